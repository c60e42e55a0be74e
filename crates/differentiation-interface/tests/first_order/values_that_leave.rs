//! Every way from a number to plain data, by trait: recordings guard the value or the outcome of a comparison and detection for all points refuses it,
//! or it is harmless.
//!
//! The table has a row for every method of every trait of `Num`; a test reads the sources and fails if one is missing.

use compiled_trace::{Limits, Op, Outcome, Recorded, guard_parts, record};
use differentiation_interface::prelude::*;
use differentiation_interface_core::custom::CustomRule;
use differentiation_interface_core::recordings::{EngineScalar, Tangents};
use differentiation_interface_core::rules;
use differentiation_interface_core::{Condition, Relation};
use num_traits::{Bounded, Float, MulAdd, NumCast, Pow, Signed};
use sparsity_tracer::{Global, Gradient, Tracer, TracerSparsityDetector, jacobian_sparsity};
use std::collections::BTreeSet;
use std::num::NonZeroU32;
use std::sync::Arc;

/// What becomes of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// It leaves: guarded, refused.
    Leaves,
    /// A comparison with it leaves, not the value: guarded by the outcome, refused.
    Decides,
    /// It does not leave: the result is a number, a constant, or the same for all values.
    Stays,
    /// It leaves to engines, which decide by it how to compute and not what. The page of the method says so.
    ForEngines,
}
use Way::{Decides, ForEngines, Leaves, Stays};

struct Row<T> {
    of: &'static str,
    method: &'static str,
    way: Way,
    call: fn(T, T),
}

struct Double;

impl CustomRule for Double {
    const NAME: &'static str = "double";
    const GIVEN: Halves = Halves::Pushforward;
    fn value(&self, x: &[f64], y: &mut Vec<f64>) {
        y.clear();
        y.push(2.0 * x[0]);
    }
    fn pushforward<S: Scalar>(&self, _: &[S], _: &[S], dx: &[S], dy: &mut [S]) {
        dy[0] = dx[0] + dx[0];
    }
}

macro_rules! table {
    ($($of:ident { $($method:ident $way:ident |$x:pat_param, $y:pat_param| $call:expr;)* })*) => {
        #[allow(clippy::redundant_closure, clippy::eq_op, clippy::clone_on_copy, reason = "each row is one call of one method")]
        fn table<T: Number>() -> Vec<Row<T>> {
            vec![$($(Row {
                of: stringify!($of),
                method: stringify!($method),
                way: $way,
                call: |$x: T, $y: T| {
                    let _ = $call;
                },
            },)*)*]
        }
    };
}

/// The traits of `Num<C>` over `f64`, those that `Real` implies and the others.
trait Number:
    Real
    + Bounded
    + MulAdd<Output = Self>
    + From<f64>
    + Pow<Self, Output = Self>
    + Pow<i32, Output = Self>
    + Pow<f64, Output = Self>
{
}
impl<T> Number for T where
    T: Real
        + Bounded
        + MulAdd<Output = T>
        + From<f64>
        + Pow<T, Output = T>
        + Pow<i32, Output = T>
        + Pow<f64, Output = T>
{
}

table! {
    Scalar {
        constant Stays |_, _| T::constant(1.0);
        primal Leaves |x, _| x.primal();
        is_constant Stays |x, _| x.is_constant();
        // An error for the whole differentiation, not a way out: it is called on a number that has none.
        spoil Stays |_, _| T::constant(1.0).spoil(ErrorKind::NoSeeds);
        apply Stays |x, _| x.apply(rules::Sin);
        apply2 Stays |x, y| x.apply2(y, rules::Times);
        apply2_right Stays |x, _| x.apply2_right(2.0, rules::Times);
        apply2_left Stays |x, _| T::apply2_left(2.0, x, rules::Times);
        custom Stays |x, _| T::custom(&Arc::new(Double), &[x], &mut Vec::new());
        select Stays |x, y| T::select(x, Relation::Less, y, x, y);
        compare_magnitude Decides |x, _| x.compare_magnitude(2.0);
        scale Stays |x, _| x.scale(2.0);
        fused Stays |x, y| Scalar::fused(x, y, y);
        is_inert_zero Stays |x, _| x.is_inert_zero();
    }
    EngineScalar {
        peek ForEngines |x, _| x.peek();
        parameter Stays |_, _| T::parameter(100, 1.0);
        as_plain Stays |x, _| T::as_plain(&[&[x]]).is_some();
        as_plain_mut Stays |mut x, _| T::as_plain_mut(&mut [std::slice::from_mut(&mut x)]).is_some();
        tangents ForEngines |x, _| {
            let join = |of: &Tangents<T, f64>| (of.join)(1.0, NonZeroU32::MIN, &[1.0], 0);
            T::tangents().map(|of| ((of.mark)(&x), (of.lane)(&x, 0), join(of)))
        };
    }
    Condition {
        new Stays |x, y| Condition::new(x, Relation::Less, y).select(x, y);
        select Stays |x, y| x.less_than(y).select(x, y);
        fmt Leaves |x, y| format!("{:?}", x.less_than(y));
    }
    Real {
        erf Stays |x, _| x.erf();
        erfc Stays |x, _| x.erfc();
        ln_gamma Stays |x, _| x.ln_gamma();
        digamma Stays |x, _| x.digamma();
        logistic Stays |x, _| x.logistic();
        softplus Stays |x, _| x.softplus();
        rem_euclid Stays |x, y| x.rem_euclid(y);
        div_euclid Stays |x, y| x.div_euclid(y);
        total_cmp Decides |x, y| Real::total_cmp(&x, &y);
        powc Stays |x, _| x.powc(1.5);
        less_than Stays |x, y| x.less_than(y).select(x, y);
        at_most Stays |x, y| x.at_most(y).select(x, y);
        greater_than Stays |x, y| x.greater_than(y).select(x, y);
        at_least Stays |x, y| x.at_least(y).select(x, y);
        equal_to Stays |x, y| x.equal_to(y).select(x, y);
    }
    RealArithmetic { operators Stays |x, y| x + 1.0 * y; }
    Default { default Stays |_, _| T::default(); }
    Clone { clone Stays |x, _| x.clone(); }
    From { from Stays |_, _| <T as From<f64>>::from(1.0); }
    PartialEq {
        eq Decides |x, y| x == y;
        ne Decides |x, y| x != y;
        eq Decides |x, _| x == 1.0;
        ne Decides |x, _| 1.0 != x;
    }
    PartialOrd {
        partial_cmp Decides |x, y| x.partial_cmp(&y);
        lt Decides |x, y| x < y;
        le Decides |x, y| x <= y;
        gt Decides |x, y| x > y;
        ge Decides |x, y| x >= y;
        partial_cmp Decides |x, _| x.partial_cmp(&1.0);
        lt Decides |x, _| x < 1.0;
        le Decides |x, _| 1.0 <= x;
        gt Decides |x, _| x > 1.0;
        ge Decides |x, _| 1.0 >= x;
    }
    Display {
        fmt Leaves |x, _| format!("{x}");
        fmt Leaves |x, _| format!("{x:.0}");
        to_string Leaves |x, _| x.to_string();
    }
    LowerExp { fmt Leaves |x, _| format!("{x:e}"); }
    Debug {
        fmt Leaves |x, _| format!("{x:?}");
        fmt Leaves |x, _| format!("{:#?}", Some([x]));
    }
    Zero {
        zero Stays |_, _| T::zero();
        is_zero Decides |x, _| x.is_zero();
        set_zero Stays |mut x, _| x.set_zero();
    }
    One {
        one Stays |_, _| T::one();
        is_one Decides |x, _| x.is_one();
        set_one Stays |mut x, _| x.set_one();
    }
    NumTrait { from_str_radix Stays |_, _| T::from_str_radix("1", 10).is_ok(); }
    ToPrimitive {
        to_isize Leaves |x, _| x.to_isize();
        to_i8 Leaves |x, _| x.to_i8();
        to_i16 Leaves |x, _| x.to_i16();
        to_i32 Leaves |x, _| x.to_i32();
        to_i64 Leaves |x, _| x.to_i64();
        to_i128 Leaves |x, _| x.to_i128();
        to_usize Leaves |x, _| x.to_usize();
        to_u8 Leaves |x, _| x.to_u8();
        to_u16 Leaves |x, _| x.to_u16();
        to_u32 Leaves |x, _| x.to_u32();
        to_u64 Leaves |x, _| x.to_u64();
        to_u128 Leaves |x, _| x.to_u128();
        // Nothing for a number that carries a derivative, but whether it does may depend on the value.
        to_f32 Leaves |x, _| x.to_f32();
        to_f64 Leaves |x, _| x.to_f64();
    }
    NumCast {
        from Stays |_, _| <T as NumCast>::from(1.0);
        from Leaves |x, _| <T as NumCast>::from(x);
        from Leaves |x, _| <f64 as NumCast>::from(x);
        from Leaves |x, _| num_traits::cast::<T, usize>(x);
    }
    FromPrimitive {
        from_i64 Stays |_, _| T::from_i64(1);
        from_u64 Stays |_, _| T::from_u64(1);
        from_f64 Stays |_, _| T::from_f64(1.0);
    }
    Bounded {
        min_value Stays |_, _| <T as Bounded>::min_value();
        max_value Stays |_, _| <T as Bounded>::max_value();
    }
    Inv { inv Stays |x, _| x.inv(); }
    Signed {
        abs Stays |x, _| Signed::abs(&x);
        abs_sub Stays |x, y| Signed::abs_sub(&x, &y);
        signum Stays |x, _| Signed::signum(&x);
        is_positive Decides |x, _| Signed::is_positive(&x);
        is_negative Decides |x, _| Signed::is_negative(&x);
    }
    Pow {
        pow Stays |x, y| Pow::pow(x, y);
        pow Stays |x, _| Pow::pow(x, 3);
        pow Stays |x, _| Pow::pow(x, 1.5);
    }
    FloatConst { PI Stays |_, _| T::PI(); }
    Float {
        nan Stays |_, _| T::nan();
        infinity Stays |_, _| T::infinity();
        neg_infinity Stays |_, _| T::neg_infinity();
        neg_zero Stays |_, _| T::neg_zero();
        min_value Stays |_, _| <T as Float>::min_value();
        min_positive_value Stays |_, _| T::min_positive_value();
        max_value Stays |_, _| <T as Float>::max_value();
        epsilon Stays |_, _| T::epsilon();
        is_nan Decides |x, _| x.is_nan();
        is_infinite Decides |x, _| x.is_infinite();
        is_finite Decides |x, _| x.is_finite();
        is_normal Decides |x, _| x.is_normal();
        is_subnormal Decides |x, _| x.is_subnormal();
        is_sign_positive Decides |x, _| x.is_sign_positive();
        is_sign_negative Decides |x, _| x.is_sign_negative();
        classify Decides |x, _| x.classify();
        integer_decode Leaves |x, _| x.integer_decode();
        floor Stays |x, _| x.floor();
        ceil Stays |x, _| x.ceil();
        round Stays |x, _| x.round();
        trunc Stays |x, _| x.trunc();
        fract Stays |x, _| x.fract();
        abs Stays |x, _| Float::abs(x);
        signum Stays |x, _| Float::signum(x);
        recip Stays |x, _| x.recip();
        sqrt Stays |x, _| x.sqrt();
        cbrt Stays |x, _| x.cbrt();
        exp Stays |x, _| x.exp();
        exp2 Stays |x, _| x.exp2();
        exp_m1 Stays |x, _| x.exp_m1();
        ln Stays |x, _| x.ln();
        log2 Stays |x, _| x.log2();
        log10 Stays |x, _| x.log10();
        ln_1p Stays |x, _| x.ln_1p();
        sin Stays |x, _| x.sin();
        cos Stays |x, _| x.cos();
        tan Stays |x, _| x.tan();
        asin Stays |x, _| x.asin();
        acos Stays |x, _| x.acos();
        atan Stays |x, _| x.atan();
        sinh Stays |x, _| x.sinh();
        cosh Stays |x, _| x.cosh();
        tanh Stays |x, _| x.tanh();
        asinh Stays |x, _| x.asinh();
        acosh Stays |x, _| x.acosh();
        atanh Stays |x, _| x.atanh();
        to_degrees Stays |x, _| x.to_degrees();
        to_radians Stays |x, _| x.to_radians();
        powf Stays |x, y| x.powf(y);
        powi Stays |x, _| x.powi(3);
        log Stays |x, y| x.log(y);
        sin_cos Stays |x, _| x.sin_cos();
        atan2 Stays |x, y| x.atan2(y);
        hypot Stays |x, y| x.hypot(y);
        max Stays |x, y| x.max(y);
        min Stays |x, y| x.min(y);
        clamp Stays |x, y| Float::clamp(x, y, y);
        abs_sub Stays |x, y| Float::abs_sub(x, y);
        copysign Stays |x, y| x.copysign(y);
        mul_add Stays |x, y| Float::mul_add(x, y, y);
    }
    MulAdd { mul_add Stays |x, y| MulAdd::mul_add(x, y, y); }
    Neg { neg Stays |x, _| -x; }
    Add { add Stays |x, y| x + y; add Stays |x, _| 1.0 + x; }
    Sub { sub Stays |x, y| x - y; sub Stays |x, _| x - 1.0; }
    Mul { mul Stays |x, y| x * y; mul Stays |x, _| 2.0 * x; }
    Div { div Stays |x, y| x / y; div Stays |x, _| x / 2.0; }
    Rem { rem Stays |x, y| x % y; rem Stays |x, _| x % 2.0; }
    AddAssign { add_assign Stays |mut x, y| x += y; }
    SubAssign { sub_assign Stays |mut x, y| x -= y; }
    MulAssign { mul_assign Stays |mut x, y| x *= y; }
    DivAssign { div_assign Stays |mut x, y| x /= y; }
    RemAssign { rem_assign Stays |mut x, y| x %= y; }
    Sum { sum Stays |x, y| [x, y].into_iter().sum::<T>(); sum Stays |x, y| [x, y].iter().sum::<T>(); }
    Product { product Stays |x, y| [x, y].into_iter().product::<T>(); }
}

#[test]
fn recordings_guard_every_value_that_leaves() {
    for Row { of, method, way, call } in table::<Recorded>() {
        let graph = record(&[2.5, 0.25], &[], Limits::default(), |x, _, y| {
            call(x[0], x[1]);
            y.push(x[0]);
        });
        let graph = graph.expect("the number can be recorded");
        let outcomes = graph.nodes().iter().filter_map(|node| match node.op {
            Op::Guard(guard) => Some(guard_parts(guard).1),
            _ => None,
        });
        let outcomes: Vec<_> = outcomes.collect();
        let found = match outcomes.contains(&Outcome::Same) {
            true => Leaves,
            false if !outcomes.is_empty() => Decides,
            false => Stays,
        };
        let expected = if way == ForEngines { Stays } else { way };
        assert_eq!(found, expected, "{of}::{method} has the guards {outcomes:?}");
    }
}

#[test]
fn detection_for_all_points_refuses_every_value_that_leaves() {
    for Row { of, method, way, call } in table::<Tracer<f64, Global, Gradient>>() {
        let f = |x: &[_]| {
            call(x[0], x[1]);
            vec![x[0]]
        };
        let kind = jacobian_sparsity(&f, &TracerSparsityDetector, &[2.5, 0.25]).map(drop).map_err(|error| error.kind());
        let refused = matches!(kind, Err(ErrorKind::ValueDecides { .. }));
        assert_eq!(refused, matches!(way, Leaves | Decides), "{of}::{method} gives {kind:?}");
        assert!(refused || kind.is_ok(), "{of}::{method} gives {kind:?}");
    }
}

/// Words of a text that could be names.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn the_table_has_every_trait_and_method() {
    let core = concat!(env!("CARGO_MANIFEST_DIR"), "/../differentiation-interface-core/src/scalar/");
    let read = |file: &str| std::fs::read_to_string(format!("{core}{file}")).expect("the sources are there");
    let rows = table::<Recorded>();
    let traits: BTreeSet<_> = rows.iter().map(|row| row.of).collect();
    let methods: BTreeSet<_> = rows.iter().map(|row| row.method).collect();
    let (mut seen_traits, mut seen_methods) = (0, 0);
    for file in ["wrapper.rs", "wrapper_float.rs", "wrapper_ops.rs", "formatting.rs"] {
        let text = read(file);
        let code: Vec<_> = text.lines().map(|line| line.split("//").next().unwrap_or("")).collect();
        for line in &code {
            // `impl<..> Trait<..> for Num<C>`, not those in macros, whose traits are in the calls of the macros.
            if let Some((before, _)) = line.split_once(" for Num<C>").or(line.split_once(" for &Num<C>")) {
                let name = before.rsplit("> ").next().unwrap_or("").split('<').next().unwrap_or("");
                if !name.is_empty() && !name.starts_with('$') && !name.contains(' ') {
                    seen_traits += 1;
                    assert!(traits.contains(name), "{file}: the trait `{name}` is not in the table");
                }
            }
        }
    }
    for file in
        ["wrapper_float.rs", "real.rs", "../arithmetic.rs", "formatting.rs", "condition.rs", "../recordings/number.rs"]
    {
        let text = read(file);
        let text = text.split("#[cfg(test)]").next().unwrap_or("");
        // Of the file of several traits, that of numbers.
        let text =
            text.split_once("pub trait Scalar").map_or(text, |(_, rest)| rest.split("\n}\n").next().unwrap_or(""));
        for line in text.lines().map(|line| line.split("//").next().unwrap_or("")) {
            let Some((_, after)) = line.split_once("fn ") else { continue };
            let Some(name) = words(after).next().filter(|_| !after.starts_with('$')) else { continue };
            if ["holds", "is_formatting"].contains(&name) {
                continue;
            }
            seen_methods += 1;
            assert!(methods.contains(name), "{file}: the method `{name}` is not in the table");
        }
    }
    // The lists of methods of `Float`.
    let text = read("wrapper_float.rs");
    let lists =
        text.split("    float_methods! {").nth(1).and_then(|rest| rest.split('}').next()).expect("the lists are there");
    for name in words(lists).filter(|word| word.starts_with(char::is_lowercase)) {
        if !["constants", "unary", "binary"].contains(&name) {
            seen_methods += 1;
            assert!(methods.contains(name), "the method `{name}` of `Float` is not in the table");
        }
    }
    assert!(seen_traits > 20 && seen_methods > 100, "the sources were not understood: {seen_traits}, {seen_methods}");
}

#[test]
fn text_of_a_number_is_right_at_every_point() -> Result<(), Error> {
    fn f<T: Real>(x: &[T]) -> T {
        x[1] * format!("{}", x[0]).parse::<f64>().expect("a number")
    }
    let mut compiled = prepare_gradient(&f, &AutoReverseDiff::compiled(), &[1.0, 2.0])?;
    assert_eq!(compiled.value_and_gradient(&[5.0, 2.0])?, (10.0, vec![0.0, 5.0]));
    assert_eq!(compiled.value_and_gradient(&[1.0, 3.0])?, (3.0, vec![0.0, 1.0]));
    fn digits<T: Real>(x: &[T]) -> T {
        x[0] * format!("{:?}", x[1].primal()).len() as f64 + x[1] * format!("{:e}", x[0]).len() as f64
    }
    let mut compiled = prepare_gradient(&digits, &AutoReverseDiff::compiled(), &[1.0, 2.0])?;
    let mut tape = prepare_gradient(&digits, &AutoReverseDiff::default(), &[1.0, 2.0])?;
    for x in [[1.0, 2.0], [0.125, 2.5], [1.0, 2.0], [3.0, 12.25]] {
        assert_eq!(compiled.gradient(&x)?, tape.gradient(&x)?);
    }
    Ok(())
}

#[test]
fn a_pattern_that_hangs_on_text_is_refused() {
    struct F;
    impl<T: Real> Function<[T]> for F {
        type Output = Vec<T>;
        fn call(&self, x: &[T]) -> Vec<T> {
            vec![if format!("{:.0}", x[0]) == "0" { x[1] } else { x[2] }]
        }
    }
    let x = [0.0, 2.0, 3.0];
    let error = jacobian(&F, &AutoSparse::new(AutoForwardDiff::default()), &x).expect_err("the pattern is not known");
    assert!(matches!(error.kind(), ErrorKind::ValueDecides { .. }));
    let text = "the function formats a number (`{}`, `{:e}`, `{:?}`), but detection for all points has no values; move the formatting out of the function, or use a detector for one point: `GraphLocalSparsityDetector` (compiled backends then return an error where another branch is taken) or `TracerLocalSparsityDetector` of `sparsity-tracer`";
    assert!(error.to_string().ends_with(text), "{error}");
}

#[test]
fn text_is_another_branch_where_other_branches_are_refused() -> Result<(), Error> {
    fn f<T: Real>(x: &[T]) -> T {
        x[0] * format!("{:.0}", x[0]).len() as f64
    }
    let backend = AutoReverseDiff::compiled().refusing_other_branches();
    let mut prepared = prepare_gradient(&f, &backend, &[5.0])?;
    let error = prepared.gradient(&[10.0]).expect_err("the text may be another one");
    let text = "the function formats a number whose value differs from that in its recording; prepare again at this point, or drop `refusing_other_branches()`";
    assert!(matches!(error.kind(), ErrorKind::OtherBranch { .. }) && error.to_string().ends_with(text), "{error}");
    Ok(())
}
