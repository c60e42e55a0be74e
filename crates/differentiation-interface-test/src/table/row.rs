//! One measurement, or one failure to measure.
//!
//! Made by the benchmark; its fields are the columns of every file that [`Table`](super::Table) writes.

/// The columns of files, which are the fields of [`Row`] in their order.
pub const COLUMNS: [&str; 16] = [
    "backend",
    "scenario",
    "operator",
    "variant",
    "prepared",
    "size",
    "calls",
    "samples",
    "evals",
    "time",
    "median",
    "quantile_10",
    "quantile_90",
    "allocs",
    "bytes",
    "error",
];

/// The time of one variant of one operator with one backend on one scenario, or the reason why there is none.
///
/// The columns of the counterpart's benchmarks, without its two shares that exist only in a garbage-collected, just-in-time compiled
/// language, and with the spread. Figures that were not measured are `NaN` (`None` where the field allows it), also in the row of
/// a failure, which has an `error`.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "table-io", derive(serde::Serialize, serde::Deserialize))]
pub struct Row {
    /// Name of the backend with its options.
    pub backend: String,
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the operator, such as `gradient`.
    pub operator: String,
    /// Name of the variant, such as `value_and_gradient_into`.
    pub variant: String,
    /// Whether the call used a preparation; `None` if the row times the preparation itself.
    pub prepared: Option<bool>,
    /// Length of the point.
    pub size: usize,
    /// Calls of the function per call of the operator, if counted.
    #[cfg_attr(feature = "table-io", serde(with = "super::files::optional_number"))]
    pub calls: Option<f64>,
    /// Number of samples.
    pub samples: usize,
    /// Calls of the operator per sample.
    pub evals: usize,
    /// Seconds per call of the operator in the fastest sample.
    #[cfg_attr(feature = "table-io", serde(with = "super::files::number"))]
    pub time: f64,
    /// Seconds per call in the median over the samples.
    #[cfg_attr(feature = "table-io", serde(with = "super::files::number"))]
    pub median: f64,
    /// The 10 % quantile of the seconds per call over the samples.
    #[cfg_attr(feature = "table-io", serde(with = "super::files::number"))]
    pub quantile_10: f64,
    /// The 90 % quantile of the seconds per call over the samples.
    #[cfg_attr(feature = "table-io", serde(with = "super::files::number"))]
    pub quantile_90: f64,
    /// Allocations per call of the operator, if counted.
    #[cfg_attr(feature = "table-io", serde(with = "super::files::optional_number"))]
    pub allocs: Option<f64>,
    /// Bytes allocated per call of the operator, if counted.
    #[cfg_attr(feature = "table-io", serde(with = "super::files::optional_number"))]
    pub bytes: Option<f64>,
    /// The reason of a failure, if there are no times. Never empty.
    pub error: Option<String>,
}

impl Row {
    /// A row with these names and without measurements.
    pub fn new(
        backend: impl Into<String>,
        scenario: impl Into<String>,
        operator: impl Into<String>,
        variant: impl Into<String>,
    ) -> Row {
        Row {
            backend: backend.into(),
            scenario: scenario.into(),
            operator: operator.into(),
            variant: variant.into(),
            prepared: None,
            size: 0,
            calls: None,
            samples: 0,
            evals: 0,
            time: f64::NAN,
            median: f64::NAN,
            quantile_10: f64::NAN,
            quantile_90: f64::NAN,
            allocs: None,
            bytes: None,
            error: None,
        }
    }

    /// Whether the row is that of a failure.
    pub fn failed(&self) -> bool {
        self.error.is_some()
    }
}
