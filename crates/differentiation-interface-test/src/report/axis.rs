//! Axes: map figures to pixels, and place the ticks.
//!
//! Called by `scaling.rs` (logarithmic) and `bars.rs` (linear from zero).

/// A logarithmic axis.
pub(super) struct LogAxis {
    /// Logarithms to base 10 of the ends.
    range: (f64, f64),
    /// Pixels of the ends.
    pixels: (f64, f64),
}

impl LogAxis {
    /// An axis that shows all of these positive numbers with some space at both ends; 1 to 10 if there are none.
    pub(super) fn around(values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> LogAxis {
        let (low, high) =
            values.map(f64::log10).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        let range = if low > high { (0.0, 1.0) } else { (low, high) };
        let space = (0.05 * (range.1 - range.0)).max(if range.1 - range.0 < 0.3 { 0.15 } else { 0.0 });
        LogAxis { range: (range.0 - space, range.1 + space), pixels }
    }

    pub(super) fn pixel(&self, value: f64) -> f64 {
        let share = (value.log10() - self.range.0) / (self.range.1 - self.range.0);
        self.pixels.0 + share * (self.pixels.1 - self.pixels.0)
    }

    /// Powers of ten, every second one or fewer on a long axis; 1, 2 and 5 times them on a short one.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let decades = self.range.1 - self.range.0;
        let step = (decades / 10.0).ceil().max(1.0) as i32;
        let factors: &[i32] = if decades < 2.0 { &[1, 2, 5] } else { &[1] };
        let exponents = (self.range.0.floor() as i32..=self.range.1.ceil() as i32).filter(|e| e % step == 0);
        let ticks = exponents.flat_map(|e| factors.iter().map(move |f| power_of_ten(e) * f64::from(*f)));
        ticks.filter(|tick| (self.range.0..=self.range.1).contains(&tick.log10())).collect()
    }
}

/// 10ᵉ as its decimal literal would be.
fn power_of_ten(e: i32) -> f64 {
    if e < 0 { 1.0 / 10f64.powi(-e) } else { 10f64.powi(e) }
}

/// A linear axis from zero.
pub(super) struct LinearAxis {
    end: f64,
    pixels: (f64, f64),
}

impl LinearAxis {
    /// An axis to this end; to 1 if it is no positive number.
    pub(super) fn to(end: f64, pixels: (f64, f64)) -> LinearAxis {
        LinearAxis { end: if end > 0.0 && end.is_finite() { end } else { 1.0 }, pixels }
    }

    pub(super) fn pixel(&self, value: f64) -> f64 {
        self.pixels.0 + value / self.end * (self.pixels.1 - self.pixels.0)
    }

    /// Three to seven round numbers from zero.
    pub(super) fn ticks(&self) -> Vec<f64> {
        let power = power_of_ten(self.end.log10().floor() as i32);
        let step = [0.2, 0.5, 1.0, 2.0].map(|factor| factor * power).into_iter().find(|step| self.end / step <= 6.0);
        let step = step.unwrap_or(2.0 * power);
        (0..=(self.end / step).floor() as i32).map(|k| f64::from(k) * step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(found: &[f64], expected: &[f64]) -> bool {
        found.len() == expected.len() && found.iter().zip(expected).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs())
    }

    #[test]
    fn ends_of_a_log_axis_are_inside_the_picture() {
        let axis = LogAxis::around([10.0, 1e4].into_iter(), (0.0, 110.0));
        assert!((axis.pixel(10.0) - 5.0).abs() < 1e-9 && (axis.pixel(1e4) - 105.0).abs() < 1e-9);
        assert!(close(&axis.ticks(), &[10.0, 100.0, 1000.0, 1e4]));
        // Pixels may run downwards, as on a vertical axis.
        let down = LogAxis::around([1e-9, 1e-7].into_iter(), (110.0, 0.0));
        assert!((down.pixel(1e-8) - 55.0).abs() < 1e-9 && close(&down.ticks(), &[1e-9, 1e-8, 1e-7]));
    }

    #[test]
    fn short_long_and_empty_log_axes_have_a_few_ticks() {
        assert!(close(&LogAxis::around([10.0].into_iter(), (0.0, 1.0)).ticks(), &[10.0]));
        assert!(close(&LogAxis::around([1.0, 8.0].into_iter(), (0.0, 1.0)).ticks(), &[1.0, 2.0, 5.0]));
        assert_eq!(LogAxis::around([1e-12, 1e12].into_iter(), (0.0, 1.0)).ticks().len(), 9);
        assert!(close(&LogAxis::around(std::iter::empty(), (0.0, 1.0)).ticks(), &[1.0, 2.0, 5.0, 10.0]));
    }

    #[test]
    fn ticks_of_a_linear_axis_are_round() {
        assert!(close(&LinearAxis::to(1.0, (0.0, 1.0)).ticks(), &[0.0, 0.2, 0.4, 0.6, 0.8, 1.0]));
        assert!(close(&LinearAxis::to(3.4e-6, (0.0, 1.0)).ticks(), &[0.0, 1e-6, 2e-6, 3e-6]));
        for end in [1.3, 1.9, 2.5, 4.0, 5.0, 7.7, 9.99] {
            assert!((3..=7).contains(&LinearAxis::to(end, (0.0, 1.0)).ticks().len()), "{end}");
        }
        assert_eq!(LinearAxis::to(f64::NAN, (0.0, 1.0)).pixel(0.5), 0.5);
    }
}
