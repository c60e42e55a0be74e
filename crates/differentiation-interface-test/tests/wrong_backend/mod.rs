//! A forward-mode backend that is wrong on purpose, in one way at a time.
//!
//! Used by `tests/wrong_on_purpose.rs`; built as `docs/book/src/new_backend.md` builds one.

use differentiation_interface_core::backend::{
    Backend, Forward, Lane, Lanes, Native, PushforwardPrimitive, Rows, Seeds, ViaPushforward,
};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::rules::{Binary, Unary};
use differentiation_interface_core::{Core, Num, Scalar};

/// value + tangent·ε
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tangent<S> {
    value: S,
    tangent: S,
}

impl<S: Scalar> Core for Tangent<S> {
    type Base = S::Base;
    const DEPTH: u32 = 1 + S::DEPTH;

    fn constant(value: S::Base) -> Self {
        Tangent { value: S::constant(value), tangent: S::default() }
    }
    fn primal(&self) -> S::Base {
        self.value.primal()
    }
    fn is_constant(&self) -> bool {
        self.value.is_constant() && self.tangent.is_inert_zero()
    }
    fn unary<R: Unary>(self, rule: R) -> Self {
        let y = self.value.apply(rule);
        Tangent { value: y, tangent: rule.derivative(self.value, y).times(self.tangent) }
    }
    fn binary<R: Binary>(self, other: Self, rule: R) -> Self {
        let (x, y) = (self.value, other.value);
        let r = x.apply2(y, rule);
        let (dx, dy) = (rule.partial_x(x, y, r).times(self.tangent), rule.partial_y(x, y, r).times(other.tangent));
        Tangent { value: r, tangent: dx + dy }
    }
    fn binary_right<R: Binary>(self, other: S::Base, rule: R) -> Self {
        let r = self.value.apply2_right(other, rule);
        Tangent { value: r, tangent: rule.partial_x(self.value, S::constant(other), r).times(self.tangent) }
    }
    fn binary_left<R: Binary>(first: S::Base, second: Self, rule: R) -> Self {
        let r = S::apply2_left(first, second.value, rule);
        Tangent { value: r, tangent: rule.partial_y(S::constant(first), second.value, r).times(second.tangent) }
    }
}

/// The fault of the backend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// All derivatives are zero.
    Zero,
    /// All derivatives are NaN.
    NotANumber,
    /// All derivatives are infinite.
    Infinite,
    /// All derivatives are twice as large where an input is negative.
    Negative,
    /// Derivatives by all inputs, one after the other, are returned in reverse order.
    Reversed,
    /// Square matrices are transposed.
    Transposed,
    /// All derivatives are off by a factor near one.
    Scaled,
    /// Products with vectors are off by a factor, those with basis vectors are not.
    ScaledVectors,
    /// The point of the first call is used for all later ones.
    Stale,
    /// Every call allocates.
    Allocating,
    /// The function is evaluated once too often.
    OneCallTooMany,
    /// The function is evaluated once more in every other call.
    UnevenCalls,
    /// Every second call of a prepared object is wrong.
    SecondCall,
    /// The last derivative of each row is not written.
    Unwritten,
    /// The value is wrong by 1.
    Value,
    /// Calls at a prepared point are wrong.
    SamePoint,
    /// Clones are wrong.
    Clone,
    /// Clones of a state that holds a point do not hold it.
    CloneForgets,
    /// Calls at a prepared point add to the contents of the rows.
    Adding,
    /// Calls at a prepared point leave the rows unchanged, except for the first.
    LeavingRows,
    /// Preparing again for more inputs keeps the old number of inputs.
    FirstLength,
    /// Every call fails.
    Error,
}

/// The backend.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong(pub(crate) Fault);

impl Backend for Wrong {
    const NAME: &'static str = "wrong";
    type Lanes = Lane<1>;
    type Num<S: Scalar, L: Lanes> = Num<Tangent<S>>;
    type Mode = Forward;
    type Pushforward = Native;
    type Pullback = ViaPushforward;
    type Derivative = ViaPushforward;
    type Gradient = ViaPushforward;
    type Jacobian = ViaPushforward;

    fn inject<S: Scalar, L: Lanes>(value: S) -> Num<Tangent<S>> {
        Num(Tangent { value, tangent: S::default() })
    }
    fn project<S: Scalar, L: Lanes>(number: &Num<Tangent<S>>) -> S {
        number.0.value
    }
}

/// Buffers, and the state that faults need.
#[derive(Debug)]
pub(crate) struct State<S: Scalar> {
    x: Vec<Num<Tangent<S>>>,
    y: Vec<Num<Tangent<S>>>,
    point: Option<Vec<S>>,
    first_length: Option<usize>,
    calls: usize,
    cloned: bool,
    held: bool,
    /// Calls at the held point.
    held_calls: usize,
    /// Whether clones forget the point.
    forgets: bool,
}

impl<S: Scalar> Clone for State<S> {
    fn clone(&self) -> Self {
        let zero = Num(Tangent { value: S::default(), tangent: S::default() });
        let x = if self.forgets { vec![zero; self.x.len()] } else { self.x.clone() };
        State { x, y: self.y.clone(), point: self.point.clone(), cloned: true, ..*self }
    }
}

impl<S: Scalar> State<S> {
    fn set_point(&mut self, x: &[S], fault: Fault) {
        let first = self.point.get_or_insert_with(|| if fault == Fault::Stale { x.to_vec() } else { Vec::new() });
        let x = if fault == Fault::Stale && first.len() == x.len() { first } else { x };
        self.x.clear();
        self.x.extend(x.iter().map(|&value| Num(Tangent { value, tangent: S::default() })));
        self.first_length.get_or_insert(x.len());
    }

    /// One run of the function per seed.
    fn runs<F: Flat<Num<Tangent<S>>>>(
        &mut self,
        fault: Fault,
        f: &mut F,
        seeds: Seeds<'_, S>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let wrong = match fault {
            Fault::Zero => Some(S::default()),
            Fault::NotANumber => Some(constant(f64::NAN)),
            Fault::Infinite => Some(constant(f64::INFINITY)),
            Fault::Negative if self.x.iter().any(|x| x.0.value.primal() < S::Base::default()) => Some(constant(2.0)),
            Fault::Scaled => Some(constant(1.0 + 1e-6)),
            Fault::ScaledVectors if matches!(seeds, Seeds::Vectors(_)) => Some(constant(2.0)),
            Fault::SecondCall if self.calls % 2 == 1 => Some(constant(2.0)),
            Fault::Clone if self.cloned => Some(constant(2.0)),
            Fault::SamePoint if self.held => Some(constant(2.0)),
            _ => None,
        };
        let count = seeds.count();
        for k in 0..count {
            for (i, x) in self.x.iter_mut().enumerate() {
                x.0.tangent = seeds.entry(k, i);
                if fault == Fault::FirstLength && Some(i) >= self.first_length {
                    x.0.tangent = S::default();
                }
            }
            f.call(&self.x, &mut self.y);
            if k == 0 {
                rows.set_rows(self.y.len())?;
            }
            for (i, y) in self.y.iter().enumerate() {
                let derivative = wrong.map_or(y.0.tangent, |factor| y.0.tangent * factor);
                let (row, column) = match fault {
                    Fault::Transposed if self.y.len() == count => (k, i),
                    Fault::Reversed => (i, count - 1 - k),
                    _ => (i, k),
                };
                let entry = &mut rows.part(row, column, 1)[0];
                match fault {
                    Fault::Unwritten if column + 1 == count => {}
                    Fault::LeavingRows if self.held && self.held_calls > 1 => {}
                    Fault::Adding if self.held => *entry += derivative,
                    _ => *entry = derivative,
                }
            }
        }
        let again = match fault {
            Fault::OneCallTooMany => true,
            Fault::UnevenCalls => self.calls % 2 == 1,
            _ => false,
        };
        if again {
            f.call(&self.x, &mut self.y);
        }
        if fault == Fault::Allocating {
            std::hint::black_box(vec![0u8; 8]);
        }
        self.calls += 1;
        Ok(())
    }

    fn value(&self, fault: Fault, y: &mut Vec<S>) {
        y.clear();
        let off: S = if fault == Fault::Value { constant(1.0) } else { S::default() };
        y.extend(self.y.iter().map(|v| v.0.value + off));
    }
}

fn constant<S: Scalar>(value: f64) -> S {
    S::constant(<S::Base as differentiation_interface_core::Base>::from_f64(value))
}

impl PushforwardPrimitive for Wrong {
    type PushforwardState<S: Scalar, L: Lanes> = State<S>;

    fn pushforward_state<S: Scalar, L: Lanes>(&self, _: usize, _: usize) -> Result<State<S>, Error> {
        Ok(State {
            x: Vec::new(),
            y: Vec::new(),
            point: None,
            first_length: None,
            calls: 0,
            cloned: false,
            held: false,
            held_calls: 0,
            forgets: false,
        })
    }

    fn hold<S: Scalar, L: Lanes, F: Flat<Num<Tangent<S>>>>(
        &self,
        state: &mut State<S>,
        f: &mut F,
        x: &[S],
        y: &mut Vec<S>,
    ) -> Result<(), Error> {
        state.set_point(x, self.0);
        state.forgets = self.0 == Fault::CloneForgets;
        state.held_calls = 0;
        f.call(&state.x, &mut state.y);
        state.value(self.0, y);
        Ok(())
    }

    fn pushforward<S: Scalar, L: Lanes, F: Flat<Num<Tangent<S>>>>(
        &self,
        state: &mut State<S>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        y: Option<&mut Vec<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        if self.0 == Fault::Error {
            return Err(ErrorKind::TapeOverflow.into());
        }
        state.set_point(x, self.0);
        if seeds.count() == 0 {
            f.call(&state.x, &mut state.y);
            rows.set_rows(state.y.len())?;
        } else {
            state.runs(self.0, f, seeds, rows)?;
        }
        if let Some(y) = y {
            state.value(self.0, y);
        }
        Ok(())
    }

    fn pushforward_held<S: Scalar, L: Lanes, F: Flat<Num<Tangent<S>>>>(
        &self,
        state: &mut State<S>,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        state.held = true;
        state.held_calls += 1;
        let result = state.runs(self.0, f, seeds, rows);
        state.held = false;
        result
    }
}
