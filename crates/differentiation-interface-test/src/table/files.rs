//! Tables as CSV and JSON, written and read back without loss (feature `table-io`).
//!
//! A number that is not finite is the word `NaN`, `Infinity` or `-Infinity`, which JavaScript's `Number` reads as well. A missing
//! value is an empty field in CSV and `null` in JSON.

use super::{COLUMNS, Table};
use std::path::{Path, PathBuf};
use std::{fmt, fs};

/// Why a table could not be written or read.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableError {
    /// The file cannot be written or read.
    File {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The text is not a CSV table with the columns of [`COLUMNS`].
    Csv(csv::Error),
    /// The text is not a JSON array of objects with the fields of [`Row`](super::Row).
    Json(serde_json::Error),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::File { path, source } => write!(f, "benchmark table {}: {source}", path.display()),
            TableError::Csv(source) => {
                write!(f, "benchmark table as CSV: {source}; it needs the columns {}", COLUMNS.join(", "))
            }
            TableError::Json(source) => {
                write!(f, "benchmark table as JSON: {source}; it needs an array of objects with {}", COLUMNS.join(", "))
            }
        }
    }
}

impl std::error::Error for TableError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TableError::File { source, .. } => Some(source),
            TableError::Csv(source) => Some(source),
            TableError::Json(source) => Some(source),
        }
    }
}

fn write(path: &Path, text: &str) -> Result<(), TableError> {
    fs::write(path, text).map_err(|source| TableError::File { path: path.to_owned(), source })
}

fn read(path: &Path) -> Result<String, TableError> {
    fs::read_to_string(path).map_err(|source| TableError::File { path: path.to_owned(), source })
}

impl Table {
    /// Returns the table as CSV: a line with [`COLUMNS`], then a record per row.
    ///
    /// # Errors
    /// [`TableError::Csv`] if the `csv` crate refuses, which no row is known to cause.
    ///
    /// # Example
    /// ```
    /// use differentiation_interface_test::table::{Row, Table};
    ///
    /// let row = Row { size: 3, error: Some("wrong, by 2".into()), ..Row::new("forward", "norm2", "gradient", "gradient") };
    /// let text = Table { rows: vec![row] }.to_csv()?;
    /// assert_eq!(text.lines().nth(1), Some(r#"forward,norm2,gradient,gradient,,3,,0,0,NaN,NaN,NaN,NaN,,,"wrong, by 2""#));
    /// assert_eq!(Table::from_csv(&text)?.rows[0].error.as_deref(), Some("wrong, by 2"));
    /// # Ok::<(), differentiation_interface_test::table::TableError>(())
    /// ```
    pub fn to_csv(&self) -> Result<String, TableError> {
        let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.write_record(COLUMNS).map_err(TableError::Csv)?;
        for row in &self.rows {
            writer.serialize(row).map_err(TableError::Csv)?;
        }
        let bytes = writer.into_inner().map_err(|error| TableError::Csv(error.into_error().into()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Returns the table written by [`to_csv`](Table::to_csv); columns may be in any order, others are ignored. A failure
    /// without a message is read as none.
    ///
    /// # Errors
    /// [`TableError::Csv`] if a column is missing or a field that must be a number is none.
    pub fn from_csv(text: &str) -> Result<Table, TableError> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        reader.deserialize().collect::<Result<Table, _>>().map_err(TableError::Csv)
    }

    /// Returns the table as JSON: an array with an object per row.
    ///
    /// # Errors
    /// [`TableError::Json`] if `serde_json` refuses, which no row is known to cause.
    ///
    /// # Example
    /// ```
    /// use differentiation_interface_test::table::{Row, Table};
    ///
    /// let row = Row { size: 3, time: 1.5e-7, ..Row::new("forward", "norm2", "gradient", "gradient") };
    /// let text = Table { rows: vec![row] }.to_json()?;
    /// assert!(text.contains(r#""size": 3"#) && text.contains(r#""median": "NaN""#) && text.contains(r#""error": null"#));
    /// assert_eq!(Table::from_json(&text)?.rows[0].time, 1.5e-7);
    /// # Ok::<(), differentiation_interface_test::table::TableError>(())
    /// ```
    pub fn to_json(&self) -> Result<String, TableError> {
        serde_json::to_string_pretty(self).map_err(TableError::Json)
    }

    /// Returns the table written by [`to_json`](Table::to_json).
    ///
    /// # Errors
    /// [`TableError::Json`] if the text is not such an array.
    pub fn from_json(text: &str) -> Result<Table, TableError> {
        serde_json::from_str(text).map_err(TableError::Json)
    }

    /// Writes the table to a CSV file.
    ///
    /// # Errors
    /// [`TableError::File`] if the file cannot be written.
    pub fn write_csv(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        write(path.as_ref(), &self.to_csv()?)
    }

    /// Returns the table of a CSV file.
    ///
    /// # Errors
    /// [`TableError::File`] if the file cannot be read, else those of [`from_csv`](Table::from_csv).
    pub fn read_csv(path: impl AsRef<Path>) -> Result<Table, TableError> {
        Table::from_csv(&read(path.as_ref())?)
    }

    /// Writes the table to a JSON file.
    ///
    /// # Errors
    /// [`TableError::File`] if the file cannot be written.
    pub fn write_json(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        write(path.as_ref(), &self.to_json()?)
    }

    /// Returns the table of a JSON file.
    ///
    /// # Errors
    /// [`TableError::File`] if the file cannot be read, else those of [`from_json`](Table::from_json).
    pub fn read_json(path: impl AsRef<Path>) -> Result<Table, TableError> {
        Table::from_json(&read(path.as_ref())?)
    }

    /// Writes [`to_markdown`](Table::to_markdown) to a file.
    ///
    /// # Errors
    /// [`TableError::File`] if the file cannot be written.
    pub fn write_markdown(&self, path: impl AsRef<Path>) -> Result<(), TableError> {
        write(path.as_ref(), &self.to_markdown())
    }
}

/// Numbers that may be NaN or infinite.
pub(super) mod number {
    use serde::de::{Error, Unexpected, Visitor};
    use serde::{Deserializer, Serializer};
    use std::fmt;

    pub(crate) fn serialize<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        match *value {
            value if value.is_nan() => serializer.serialize_str("NaN"),
            f64::INFINITY => serializer.serialize_str("Infinity"),
            f64::NEG_INFINITY => serializer.serialize_str("-Infinity"),
            value => serializer.serialize_f64(value),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }

    struct NumberVisitor;

    impl Visitor<'_> for NumberVisitor {
        type Value = f64;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a number, `NaN`, `Infinity` or `-Infinity`")
        }
        fn visit_f64<E: Error>(self, value: f64) -> Result<f64, E> {
            Ok(value)
        }
        fn visit_u64<E: Error>(self, value: u64) -> Result<f64, E> {
            Ok(value as f64)
        }
        fn visit_i64<E: Error>(self, value: i64) -> Result<f64, E> {
            Ok(value as f64)
        }
        fn visit_str<E: Error>(self, value: &str) -> Result<f64, E> {
            value.parse().map_err(|_| E::invalid_value(Unexpected::Str(value), &self))
        }
    }
}

/// Numbers that may be missing.
pub(super) mod optional_number {
    use super::number;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[derive(Serialize, Deserialize)]
    #[serde(transparent)]
    struct Number(#[serde(with = "number")] f64);

    pub(crate) fn serialize<S: Serializer>(value: &Option<f64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Number).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
        Ok(Option::<Number>::deserialize(deserializer)?.map(|number| number.0))
    }
}
