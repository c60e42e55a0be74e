//! What a graph or program says about absent derivatives; how they are told apart is in `derive::absence`.

/// What a program of derivatives does about absent ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Absence {
    /// No derivative that may be absent meets a factor that may not be finite.
    #[default]
    Exact,
    /// Some may: a result that is not a number may be one if absent derivatives are tracked.
    Doubtful,
    /// What is absent contributes nothing.
    Tracked,
}
