//! The languages and their numbers.
//!
//! Used by all of the printer.

/// The language, and what the code may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    /// Rust with the crate `libm` for elementary functions, or with the standard library.
    Rust {
        std: bool,
    },
    C,
}

/// The numbers that the code computes with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// `f64`, `double`.
    #[default]
    Double,
    /// `f32`, `float`.
    Single,
}

/// Language and numbers.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    pub(crate) language: Language,
    pub(crate) precision: Precision,
    /// Whether functions in Rust take slices, whose lengths they check.
    pub(crate) takes_slices: bool,
}

impl Dialect {
    pub(crate) fn is_rust(self) -> bool {
        self.language != Language::C
    }

    /// The number type.
    pub(crate) fn float(self) -> &'static str {
        match (self.is_rust(), self.precision) {
            (true, Precision::Double) => "f64",
            (true, Precision::Single) => "f32",
            (false, Precision::Double) => "double",
            (false, Precision::Single) => "float",
        }
    }

    /// A number.
    pub(super) fn literal(self, value: f64) -> String {
        let (text, special) = match self.precision {
            Precision::Double => (format!("{value:?}"), !value.is_finite()),
            Precision::Single => (format!("{:?}", value as f32), !(value as f32).is_finite()),
        };
        match (special, self.is_rust()) {
            (false, true) => text,
            (false, false) if self.precision == Precision::Single => text + "f",
            (false, false) => text,
            (true, true) if value.is_nan() => format!("{}::NAN", self.float()),
            (true, true) if value > 0.0 => format!("{}::INFINITY", self.float()),
            (true, true) => format!("{}::NEG_INFINITY", self.float()),
            (true, false) if value.is_nan() => "NAN".to_string(),
            (true, false) if value > 0.0 => "INFINITY".to_string(),
            (true, false) => "-INFINITY".to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_back_as_they_are() {
        let rust =
            Dialect { language: Language::Rust { std: false }, precision: Precision::Double, takes_slices: false };
        for value in [0.1, -0.0, 1e300, 5e-324, 123456789.0, 1.0 / 3.0] {
            assert_eq!(rust.literal(value).parse::<f64>().unwrap().to_bits(), f64::to_bits(value));
        }
        let c = Dialect { language: Language::C, precision: Precision::Single, takes_slices: false };
        assert_eq!(c.literal(0.1), "0.1f");
        assert_eq!(c.literal(f64::NEG_INFINITY), "-INFINITY");
        assert_eq!(rust.literal(f64::NAN), "f64::NAN");
    }
}
