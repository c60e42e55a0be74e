//! Elementary functions in recordings: small numbers for the lines of the rule table, objects for rules of users.
//!
//! Made by the recorder, read by every pass and executor. Nothing here lists a derivative of the table: derivatives are
//! [`Template`]s, recorded from the rules themselves.

#[cfg(feature = "native")]
use crate::recording::graph::{Op, RELATIONS};
use crate::recording::template::Template;
use differentiation_interface_core::custom::{CustomRule, Halves};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::rules::*;
use differentiation_interface_core::scalar::{Base, Scalar};
use rustc_hash::FxHashMap;
use std::any::{Any, TypeId};
use std::fmt::Debug;
use std::sync::Arc;

/// Numbers the lines of the rule table that have no parameter.
macro_rules! numbered_rules {
    ($Trait:ident $count:ident $id:ident $apply:ident $block:ident $name:ident $template:ident
     $make:ident; $($CONST:ident $Rule:ident,)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the names count the rules")]
        enum $count { $($CONST,)* LENGTH }
        $(#[doc = concat!("Number of the rule [`", stringify!($Rule), "`](differentiation_interface_core::rules::", stringify!($Rule), ").")]
        pub const $CONST: u16 = $count::$CONST as u16;)*

        /// The number of a rule of the table. The comparisons are decided when this is compiled.
        #[inline(always)]
        fn $id<R: 'static>() -> Option<u16> {
            let own = TypeId::of::<R>();
            $(if own == TypeId::of::<$Rule>() { return Some($CONST); })*
            None
        }
        /// The value of a rule of the table; a rule of one argument ignores `y`.
        #[inline(always)]
        fn $apply<S: Scalar>(rule: u16, x: S, y: S) -> Option<S> {
            let _ = y;
            Some(match rule {
                $($CONST => $make!($Rule, x, y),)*
                _ => return None,
            })
        }
        /// The values of a rule of the table on a block; `false` if it is not one.
        #[inline(always)]
        fn $block<S: Scalar>(rule: u16, x: impl Fn(usize) -> S, y: impl Fn(usize) -> S, out: &mut [S]) -> bool {
            let _ = &y;
            match rule {
                $($CONST => for (i, out) in out.iter_mut().enumerate() {
                    *out = $make!($Rule, x(i), y(i));
                },)*
                _ => return false,
            }
            true
        }
        fn $name(rule: u16) -> Option<&'static str> {
            $(if rule == $CONST { return Some($Rule::NAME); })*
            None
        }
        fn $template(rule: u16) -> Option<Result<Vec<Template>, Error>> {
            $(if rule == $CONST { return Some(Template::$id($Rule)); })*
            None
        }
    };
}

macro_rules! apply_one {
    ($Rule:ident, $x:expr, $y:expr) => {
        $x.apply($Rule)
    };
}
macro_rules! apply_two {
    ($Rule:ident, $x:expr, $y:expr) => {
        $x.apply2($y, $Rule)
    };
}

numbered_rules! { Unary UnaryCount unary_id unary_value unary_block unary_name unary_template apply_one;
    NEGATE Negate, RECIP Recip, ABS Abs, SIGNUM Signum, FLOOR Floor, CEIL Ceil, ROUND Round, TRUNC Trunc, FRACT Fract,
    DEGREES Degrees, RADIANS Radians, SQRT Sqrt, CBRT Cbrt, EXP Exp, EXP2 Exp2, EXP_M1 ExpM1, LN Ln, LOG2 Log2,
    LOG10 Log10, LN_1P Ln1p, SIN Sin, COS Cos, TAN Tan, ASIN Asin, ACOS Acos, ATAN Atan, SINH Sinh, COSH Cosh,
    TANH Tanh, SECH_SQUARED SechSquared, ASINH Asinh, HYPOT_ONE HypotOne, ACOSH Acosh, ATANH Atanh, ERF Erf, ERFC Erfc,
    LN_GAMMA LnGamma, LOGISTIC Logistic, SOFTPLUS Softplus, CBRT_SLOPE CbrtSlope, ONE_MINUS_SQUARE OneMinusSquare,
    ASIN_SLOPE AsinSlope, ATAN_SLOPE AtanSlope, ACOSH_SLOPE AcoshSlope, GAUSS Gauss, LOGISTIC_SLOPE LogisticSlope,
}
numbered_rules! { Binary BinaryCount binary_id binary_value binary_block binary_name binary_template apply_two;
    PLUS Plus, MINUS Minus, TIMES Times, OVER Over, MODULO Modulo, POWF Powf, ATAN2 Atan2, HYPOT Hypot, MAX Max, MIN Min,
    AT_LEAST AtLeast, AT_MOST AtMost, COPYSIGN Copysign, ABS_SUB AbsSub, DIRECTION Direction, HYPOT_BEND HypotBend,
    HYPOT_CROSS HypotCross, ANGULAR Angular, ANGULAR_BEND AngularBend, ANGULAR_CROSS AngularCross,
    POWF_BY_BASE PowfByBase, POWF_BY_EXPONENT PowfByExponent, POWF_BY_BASE_TWICE PowfByBaseTwice, POWF_BY_BASE_THRICE PowfByBaseThrice, POWF_MIXED PowfMixed,
    POWF_BY_EXPONENT_TWICE PowfByExponentTwice, TOGETHER Together, PRODUCT_ERROR ProductError, SUM_ERROR SumError,
    ODD_SUM OddSum,
}

/// Rules of the table without a parameter come first; the numbers of the others depend on the recording.
const UNARY_TABLE: u16 = UnaryCount::LENGTH as u16;
const BINARY_TABLE: u16 = BinaryCount::LENGTH as u16;

/// A rule of one argument that a recording numbers itself.
#[derive(Clone, Debug)]
pub enum OtherUnary {
    /// The power with this integer exponent.
    Powi(i32),
    /// The power with this exponent.
    Powc(f64),
    /// The polygamma function of this order.
    Polygamma(u32),
    /// A rule of a user.
    User(Arc<dyn RuleObject>),
}

impl OtherUnary {
    /// The parameter as bits, with the type of the rule; none for a user's rule.
    fn key(&self) -> Option<(TypeId, u64)> {
        match self {
            OtherUnary::Powi(n) => Some((TypeId::of::<Powi>(), u64::from(*n as u32))),
            OtherUnary::Powc(c) => Some((TypeId::of::<Powc>(), c.to_bits())),
            OtherUnary::Polygamma(order) => Some((TypeId::of::<Polygamma>(), u64::from(*order))),
            OtherUnary::User(_) => None,
        }
    }

    /// Whether both are the same rule.
    fn is(&self, other: &OtherUnary) -> bool {
        match (self, other) {
            (OtherUnary::Powi(a), OtherUnary::Powi(b)) => a == b,
            (OtherUnary::Powc(a), OtherUnary::Powc(b)) => a.to_bits() == b.to_bits(),
            (OtherUnary::Polygamma(a), OtherUnary::Polygamma(b)) => a == b,
            (OtherUnary::User(a), OtherUnary::User(b)) => a.is(b.rule()),
            _ => false,
        }
    }
}

/// A rule of a user behind a pointer: its values on plain numbers, and the templates of its derivatives.
pub trait RuleObject: Any + Send + Sync + Debug {
    /// Name of the rule.
    fn name(&self) -> &'static str;
    /// Value on doubles.
    fn value_f64(&self, x: f64, y: f64) -> f64;
    /// Value on singles.
    fn value_f32(&self, x: f32, y: f32) -> f32;
    /// One template per argument.
    ///
    /// # Errors
    /// [`ErrorKind::RuleOrder`] if the derivative cannot be recorded.
    fn templates(&self) -> Result<Vec<Template>, Error>;
    /// The rule itself.
    fn rule(&self) -> &dyn Any;
    /// Whether this is the same rule.
    fn is(&self, other: &dyn Any) -> bool;
}

/// A unary rule as an object.
#[derive(Debug)]
struct OneArgument<R>(R);

impl<R: Unary> RuleObject for OneArgument<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, _: f64) -> f64 {
        self.0.value(x)
    }
    fn value_f32(&self, x: f32, _: f32) -> f32 {
        self.0.value(x)
    }
    fn templates(&self) -> Result<Vec<Template>, Error> {
        Template::unary_or_opaque(self.0)
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<R>() == Some(&self.0)
    }
}

/// A binary rule as an object.
#[derive(Debug)]
struct TwoArguments<R>(R);

impl<R: Binary> RuleObject for TwoArguments<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, y: f64) -> f64 {
        self.0.value(x, y)
    }
    fn value_f32(&self, x: f32, y: f32) -> f32 {
        self.0.value(x, y)
    }
    fn templates(&self) -> Result<Vec<Template>, Error> {
        Template::binary_or_opaque(self.0)
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<R>() == Some(&self.0)
    }
}

/// The derivative of a user's rule that branches on values, evaluated on plain numbers as it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Opaque<R> {
    pub(crate) rule: R,
    pub(crate) argument: usize,
}

/// An [`Opaque`] derivative of a unary rule.
#[derive(Debug)]
pub(crate) struct OpaqueUnary<R>(pub(crate) Opaque<R>);

impl<R: Unary> RuleObject for OpaqueUnary<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, _: f64) -> f64 {
        self.0.rule.derivative(x, self.0.rule.value(x)).value()
    }
    fn value_f32(&self, x: f32, _: f32) -> f32 {
        self.0.rule.derivative(x, self.0.rule.value(x)).value()
    }
    fn templates(&self) -> Result<Vec<Template>, Error> {
        Err(ErrorKind::RuleOrder { rule: R::NAME }.into())
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Opaque<R>>() == Some(&self.0)
    }
}

/// An [`Opaque`] derivative of a binary rule.
#[derive(Debug)]
pub(crate) struct OpaqueBinary<R>(pub(crate) Opaque<R>);

impl<R: Binary> OpaqueBinary<R> {
    fn at<B: Base>(&self, x: B, y: B) -> B {
        let rule = self.0.rule;
        let r = rule.value(x, y);
        if self.0.argument == 0 { rule.partial_x(x, y, r).value() } else { rule.partial_y(x, y, r).value() }
    }
}

impl<R: Binary> RuleObject for OpaqueBinary<R> {
    fn name(&self) -> &'static str {
        R::NAME
    }
    fn value_f64(&self, x: f64, y: f64) -> f64 {
        self.at(x, y)
    }
    fn value_f32(&self, x: f32, y: f32) -> f32 {
        self.at(x, y)
    }
    fn templates(&self) -> Result<Vec<Template>, Error> {
        Err(ErrorKind::RuleOrder { rule: R::NAME }.into())
    }
    fn rule(&self) -> &dyn Any {
        &self.0
    }
    fn is(&self, other: &dyn Any) -> bool {
        other.downcast_ref::<Opaque<R>>() == Some(&self.0)
    }
}

/// A user's rule as a custom rule, which is how it reaches scalars that carry derivatives.
struct AsCustom {
    rule: Arc<dyn RuleObject>,
}

impl<B: Base> CustomRule<B> for AsCustom {
    const NAME: &'static str = "recorded rule";
    const GIVEN: Halves = Halves::Both;
    fn value(&self, x: &[B], y: &mut Vec<B>) {
        y.clear();
        y.push(base_value(&*self.rule, x[0], *x.last().expect("rules have one or two arguments")));
    }
    fn pushforward<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
        dy[0] = S::default();
        self.each_partial(x, y, |i, partial| dy[0] += partial * dx[i]);
    }
    fn pullback<S: Scalar<Base = B>>(&self, x: &[S], y: &[S], dy: &[S], dx: &mut [S]) {
        dx.fill(S::default());
        self.each_partial(x, y, |i, partial| dx[i] = partial * dy[0]);
    }
}

impl AsCustom {
    fn each_partial<S: Scalar>(&self, x: &[S], y: &[S], mut act: impl FnMut(usize, S)) {
        match self.rule.templates() {
            Err(error) => differentiation_interface_core::fault::raise(error.kind()),
            Ok(templates) => {
                for (i, template) in templates.iter().enumerate() {
                    let arguments = if x.len() == 1 { vec![x[0], y[0]] } else { vec![x[0], x[1], y[0]] };
                    act(i, template.evaluate(&arguments));
                }
            }
        }
    }
}

/// The value of an object on a base number.
#[inline]
fn base_value<B: Base>(rule: &dyn RuleObject, x: B, y: B) -> B {
    if TypeId::of::<B>() == TypeId::of::<f32>() {
        B::from_f64(rule.value_f32(x.as_f64() as f32, y.as_f64() as f32) as f64)
    } else {
        B::from_f64(rule.value_f64(x.as_f64(), y.as_f64()))
    }
}

fn user_value<S: Scalar>(rule: &Arc<dyn RuleObject>, x: &[S]) -> S {
    if TypeId::of::<S>() == TypeId::of::<S::Base>() {
        let last = x[x.len() - 1];
        return S::constant(base_value(&**rule, x[0].primal(), last.primal()));
    }
    let mut y = Vec::new();
    S::custom(&Arc::new(AsCustom { rule: Arc::clone(rule) }), x, &mut y);
    y[0]
}

/// The rules of a recording: the table, and what the recording met besides.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    unary: Vec<OtherUnary>,
    /// Where those with a parameter are, once there are more than [`FEW`].
    places: FxHashMap<(TypeId, u64), u32>,
    binary: Vec<Arc<dyn RuleObject>>,
}

/// So many rules are compared one by one.
const FEW: usize = 16;
/// Most different exponents of a function; their derivatives have exponents of their own. Further ones are operands of `powf`.
const MOST_EXPONENTS: usize = 4096;

impl Rules {
    /// Bytes of memory it occupies beside itself.
    pub(crate) fn bytes(&self) -> usize {
        self.unary.capacity() * size_of::<OtherUnary>()
            + self.binary.capacity() * size_of::<Arc<dyn RuleObject>>()
            + self.places.capacity() * (size_of::<(TypeId, u64)>() + size_of::<u32>() + 1)
    }

    /// Number of rules that are not in the table.
    pub(crate) fn others(&self) -> usize {
        self.unary.len() + self.binary.len()
    }

    /// Whether a further constant exponent is to be an operand.
    pub(crate) fn has_many_exponents(&self) -> bool {
        self.unary.len() >= MOST_EXPONENTS
    }

    /// Forgets the rules that are not in the table.
    pub(crate) fn clear(&mut self) {
        self.unary.clear();
        self.places.clear();
        self.binary.clear();
    }

    /// Whether numbers mean the same here and there.
    pub(crate) fn are(&self, other: &Rules) -> bool {
        self.unary.len() == other.unary.len()
            && self.binary.len() == other.binary.len()
            && self.unary.iter().zip(&other.unary).all(|(a, b)| a.is(b))
            && self.binary.iter().zip(&other.binary).all(|(a, b)| a.is(b.rule()))
    }

    /// Whether a rule is in the table.
    #[inline(always)]
    pub(crate) fn has_unary<R: Unary>() -> bool {
        unary_id::<R>().is_some()
    }

    /// Whether a rule of two arguments is in the table.
    #[inline(always)]
    pub(crate) fn has_binary<R: Binary>() -> bool {
        binary_id::<R>().is_some()
    }

    /// Whether an operation is one: its number stands for a rule here, or for a relation.
    #[cfg(feature = "native")]
    pub(crate) fn know(&self, op: Op) -> bool {
        match op {
            Op::Unary(rule) => usize::from(rule) < UNARY_TABLE as usize + self.unary.len(),
            Op::Binary(rule) => usize::from(rule) < BINARY_TABLE as usize + self.binary.len(),
            Op::Compare(relation) => usize::from(relation) < RELATIONS.len(),
            _ => true,
        }
    }

    /// The number of a unary rule, new if it was not met before; `None` if there are more than 65 thousand.
    #[inline(always)]
    pub(crate) fn number_unary<R: Unary>(&mut self, rule: R) -> Option<u16> {
        match unary_id::<R>() {
            Some(id) => Some(id),
            None => self.number_other_unary(rule),
        }
    }

    /// The number of a binary rule.
    #[inline(always)]
    pub(crate) fn number_binary<R: Binary>(&mut self, rule: R) -> Option<u16> {
        match binary_id::<R>() {
            Some(id) => Some(id),
            None => self.number_binary_object(&rule, || Arc::new(TwoArguments(rule))),
        }
    }

    fn number_other_unary<R: Unary>(&mut self, rule: R) -> Option<u16> {
        let any: &dyn Any = &rule;
        let other = if let Some(Powi(n)) = any.downcast_ref() {
            OtherUnary::Powi(*n)
        } else if let Some(Powc(c)) = any.downcast_ref() {
            OtherUnary::Powc(*c)
        } else if let Some(Polygamma(order)) = any.downcast_ref() {
            OtherUnary::Polygamma(*order)
        } else {
            return self.number_unary_object(&rule, || Arc::new(OneArgument(rule)));
        };
        self.number_other(other)
    }

    /// The number of a rule with a parameter.
    pub(crate) fn number_other(&mut self, other: OtherUnary) -> Option<u16> {
        let same = |known: &OtherUnary| match (known, &other) {
            (OtherUnary::User(a), OtherUnary::User(b)) => Arc::ptr_eq(a, b),
            (known, other) => known.is(other),
        };
        let key = other.key().filter(|_| self.unary.len() > FEW);
        let found = match key {
            Some(key) => self.places.get(&key).map(|place| *place as usize),
            None => self.unary.iter().position(same),
        };
        let index = found.unwrap_or_else(|| self.insert(other));
        u16::try_from(index + UNARY_TABLE as usize).ok()
    }

    /// Appends a rule that is not there.
    fn insert(&mut self, other: OtherUnary) -> usize {
        // More than can be numbered are refused, and need no memory.
        let index = self.unary.len();
        if index > u16::MAX as usize {
            return index;
        }
        self.unary.push(other);
        if index == FEW {
            let keys = self.unary.iter().enumerate().filter_map(|(i, known)| Some((known.key()?, i as u32)));
            self.places = keys.collect();
        } else if index > FEW
            && let Some(key) = self.unary[index].key()
        {
            self.places.insert(key, index as u32);
        }
        index
    }

    pub(crate) fn number_unary_object(
        &mut self,
        key: &dyn Any,
        make: impl FnOnce() -> Arc<dyn RuleObject>,
    ) -> Option<u16> {
        let found = self.unary.iter().position(|known| matches!(known, OtherUnary::User(object) if object.is(key)));
        let index = found.unwrap_or_else(|| self.insert(OtherUnary::User(make())));
        u16::try_from(index + UNARY_TABLE as usize).ok()
    }

    pub(crate) fn number_binary_object(
        &mut self,
        key: &dyn Any,
        make: impl FnOnce() -> Arc<dyn RuleObject>,
    ) -> Option<u16> {
        let index = self.binary.iter().position(|object| object.is(key)).unwrap_or_else(|| {
            self.binary.push(make());
            self.binary.len() - 1
        });
        u16::try_from(index + BINARY_TABLE as usize).ok()
    }

    /// The number that a unary rule of other rules has here.
    pub(crate) fn adopt_unary(&mut self, other: &Rules, rule: u16) -> Option<u16> {
        match rule.checked_sub(UNARY_TABLE) {
            None => Some(rule),
            Some(i) => self.number_other(other.unary[i as usize].clone()),
        }
    }

    /// The number that a binary rule of other rules has here.
    pub(crate) fn adopt_binary(&mut self, other: &Rules, rule: u16) -> Option<u16> {
        let Some(i) = rule.checked_sub(BINARY_TABLE) else { return Some(rule) };
        let object = &other.binary[i as usize];
        let index = self.binary.iter().position(|known| Arc::ptr_eq(known, object)).unwrap_or_else(|| {
            self.binary.push(Arc::clone(object));
            self.binary.len() - 1
        });
        u16::try_from(index + BINARY_TABLE as usize).ok()
    }

    /// What a unary rule number beyond the table stands for; `None` for a line of the table.
    pub fn other_unary(&self, rule: u16) -> Option<&OtherUnary> {
        self.unary.get(rule.checked_sub(UNARY_TABLE)? as usize)
    }

    /// What a binary rule number beyond the table stands for; `None` for a line of the table.
    pub fn other_binary(&self, rule: u16) -> Option<&Arc<dyn RuleObject>> {
        self.binary.get(rule.checked_sub(BINARY_TABLE)? as usize)
    }

    /// The value of a unary rule on any scalar.
    #[inline]
    pub fn apply<S: Scalar>(&self, rule: u16, x: S) -> S {
        match unary_value(rule, x, x) {
            Some(y) => y,
            None => self.apply_other(rule, x),
        }
    }

    #[inline(never)]
    fn apply_other<S: Scalar>(&self, rule: u16, x: S) -> S {
        match &self.unary[(rule - UNARY_TABLE) as usize] {
            OtherUnary::Powi(n) => x.apply(Powi(*n)),
            OtherUnary::Powc(c) => x.apply(Powc(*c)),
            OtherUnary::Polygamma(order) => x.apply(Polygamma(*order)),
            OtherUnary::User(object) => user_value(object, &[x]),
        }
    }

    /// The value of a binary rule on any scalar.
    #[inline]
    pub fn apply2<S: Scalar>(&self, rule: u16, x: S, y: S) -> S {
        match binary_value(rule, x, y) {
            Some(r) => r,
            None => user_value(&self.binary[(rule - BINARY_TABLE) as usize], &[x, y]),
        }
    }

    /// Values of a unary rule on a block.
    #[inline(always)]
    pub(crate) fn apply_block<S: Scalar>(&self, rule: u16, x: &[S], out: &mut [S]) {
        let x = &x[..out.len()];
        if unary_block(rule, |i| x[i], |i| x[i], out) {
            return;
        }
        match &self.unary[(rule - UNARY_TABLE) as usize] {
            OtherUnary::Powi(2) => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = x.apply(Powi(2));
                }
            }
            OtherUnary::Powi(3) => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = x.apply(Powi(3));
                }
            }
            _ => {
                for (out, x) in out.iter_mut().zip(x) {
                    *out = self.apply_other(rule, *x);
                }
            }
        }
    }

    /// Values of a binary rule on a block.
    #[inline(always)]
    pub(crate) fn apply2_block<S: Scalar>(
        &self,
        rule: u16,
        x: impl Fn(usize) -> S,
        y: impl Fn(usize) -> S,
        out: &mut [S],
    ) {
        if binary_block(rule, &x, &y, out) {
            return;
        }
        for (i, out) in out.iter_mut().enumerate() {
            *out = self.apply2(rule, x(i), y(i));
        }
    }

    /// Name of a unary rule, with its parameter.
    pub fn unary_name(&self, rule: u16) -> String {
        match unary_name(rule) {
            Some(name) => name.to_string(),
            None => match &self.unary[(rule - UNARY_TABLE) as usize] {
                OtherUnary::Powi(n) => format!("powi {n}"),
                OtherUnary::Powc(c) => format!("powc {c}"),
                OtherUnary::Polygamma(order) => format!("polygamma {order}"),
                OtherUnary::User(object) => object.name().to_string(),
            },
        }
    }

    /// Name of a binary rule.
    pub fn binary_name(&self, rule: u16) -> &'static str {
        binary_name(rule).unwrap_or_else(|| self.binary[(rule - BINARY_TABLE) as usize].name())
    }

    /// The derivatives of a unary rule: one template.
    pub(crate) fn unary_templates(&self, rule: u16) -> Result<Vec<Template>, Error> {
        match unary_template(rule) {
            Some(templates) => templates,
            None => match &self.unary[(rule - UNARY_TABLE) as usize] {
                OtherUnary::Powi(n) => Template::unary_id(Powi(*n)),
                OtherUnary::Powc(c) => Template::unary_id(Powc(*c)),
                OtherUnary::Polygamma(order) => Template::unary_id(Polygamma(*order)),
                OtherUnary::User(object) => object.templates(),
            },
        }
    }

    /// The derivatives of a binary rule: two templates.
    pub(crate) fn binary_templates(&self, rule: u16) -> Result<Vec<Template>, Error> {
        match binary_template(rule) {
            Some(templates) => templates,
            None => self.binary[(rule - BINARY_TABLE) as usize].templates(),
        }
    }
}
