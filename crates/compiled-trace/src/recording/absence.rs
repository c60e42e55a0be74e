//! How a graph or program treats absent derivatives; `derive::absence` implements it.

/// How a program of derivatives treats absent ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// No derivative that may be absent is multiplied by a factor that may not be finite.
    #[default]
    Exact,
    /// Some may be: if a result is NaN, tracking absent derivatives may give a number.
    Doubtful,
    /// An absent derivative contributes nothing.
    Tracked,
}
