use super::*;
use differentiation_interface_core::rules::{self, *};

/// Writes every class of the table as in the reference: `f` and `s` per argument, `c` for a cross derivative.
#[derive(Default)]
struct Table(Vec<(String, String)>);

fn letter(first: bool, second: bool) -> char {
    match (first, second) {
        (false, false) => 'z',
        (true, false) => 'f',
        (true, true) => 's',
        (false, true) => '!',
    }
}

impl RuleVisitor for Table {
    fn unary<R: Unary>(&mut self, rule: R) {
        let c = unary_global(rule);
        self.0.push((format!("{rule:?}"), letter(c.x(), c.xx()).to_string()));
        assert_eq!(c, unary_global(rule), "{rule:?} from the table");
    }
    fn binary<R: Binary>(&mut self, rule: R) {
        let c = binary_global(rule);
        assert_eq!(c, binary_sampled(rule), "{rule:?} from the table");
        let cross = if c.xy() { 'c' } else { '-' };
        self.0.push((format!("{rule:?}"), [letter(c.x(), c.xx()), letter(c.y(), c.yy()), cross].iter().collect()));
    }
}

#[test]
fn classes_of_the_rule_table_are_those_of_mathematics() {
    let mut table = Table::default();
    rules::each_unary(&mut table);
    rules::each_binary(&mut table);
    for (rule, class) in table.0 {
        let expected = match rule.as_str() {
            "Signum" | "Floor" | "Ceil" | "Round" | "Trunc" | "Powi(0)" | "Powc(0.0)" => "z",
            "Negate" | "Abs" | "Fract" | "Degrees" | "Radians" | "Powi(1)" | "Powc(1.0)" => "f",
            "ProductError" | "SumError" => "zz-",
            "Plus" | "Together" | "OddSum" | "Minus" | "Modulo" | "Max" | "Min" | "AtLeast" | "AtMost" | "AbsSub" => {
                "ff-"
            }
            "Times" => "ffc",
            "Over" => "fsc",
            "Copysign" => "fz-",
            "Powf" | "Atan2" | "Hypot" | "Direction" | "Angular" | "PowfByBase" | "PowfByExponent" => "ssc",
            "HypotBend" | "HypotCross" | "AngularBend" | "AngularCross" => "ssc",
            "PowfByBaseTwice" | "PowfByBaseThrice" | "PowfMixed" | "PowfByExponentTwice" => "ssc",
            _ => "s",
        };
        assert_eq!(class, expected, "{rule}");
    }
}

#[test]
fn parameters_are_told_apart() {
    assert!(!unary_global(Powi(1)).xx());
    assert!(unary_global(Powi(2)).xx());
    assert_eq!(unary_global(Powi(0)), Class(0));
}

#[test]
fn both_arguments_count_at_a_tie_only() {
    let at = |x: f64, y: f64| binary_local(Max, x, y, x.max(y));
    assert_eq!((at(1.0, 2.0).x(), at(1.0, 2.0).y()), (false, true));
    assert_eq!((at(2.0, 1.0).x(), at(2.0, 1.0).y()), (true, false));
    assert_eq!((at(1.0, 1.0).x(), at(1.0, 1.0).y()), (true, true));
}

#[test]
fn exact_zeros_are_dropped_and_rounded_ones_kept() {
    let times = |x: f64, y: f64| binary_local(Times, x, y, x * y);
    assert!(!times(1.0, 0.0).x() && times(1.0, 0.0).y() && times(1.0, 0.0).xy());
    // 1e-300 / 1e300 rounds to zero, and stays.
    let over = |x: f64, y: f64| binary_local(Over, x, y, x / y);
    assert!(over(1e-300, 1e300).y());
    assert!(!over(0.0, 2.0).y() && !over(0.0, 0.0).y());
    // exp(-800) rounds to zero.
    assert!(unary_local(Exp, -800.0, 0.0).x());
    // The convention 0 of |x|' at 0 and of hypot' at the origin is no derivative.
    assert!(unary_local(Abs, 0.0, 0.0).x());
    assert!(binary_local(Hypot, 0.0, 0.0, 0.0).x() && binary_local(Hypot, 0.0, 0.0, 0.0).y());
    assert!(!binary_local(Hypot, 0.0, 1.0, 1.0).x());
}

#[test]
fn remainder_drops_its_divisor_only_where_it_is_not_used() {
    let rem = |x: f64, y: f64| binary_local(Modulo, x, y, x % y).y();
    assert!(!rem(1.0, 3.0) && !rem(-1.0, 3.0));
    assert!(rem(7.0, 3.0) && rem(-7.0, 3.0) && rem(3.0, 3.0));
}
