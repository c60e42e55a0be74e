//! Textbook reverse mode: a thread-local vector of 24-byte nodes, one per operation, its memory reused.

use super::Number;
use super::sums::Sum;
use super::systems::System;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub};

struct Node {
    parents: [u32; 2],
    partials: [f64; 2],
}

thread_local! {
    // Without a destructor and reached by `try_with`, so that a push is inlined: `with` makes this tape 1.2 times slower.
    static TAPE: RefCell<ManuallyDrop<Vec<Node>>> = const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// Value and place on the tape.
#[derive(Clone, Copy, Default)]
pub(crate) struct HandVar {
    v: f64,
    i: u32,
}

#[inline]
fn push(v: f64, parents: [u32; 2], partials: [f64; 2]) -> HandVar {
    let pushed = TAPE.try_with(|tape| {
        let mut tape = tape.borrow_mut();
        let i = tape.len() as u32;
        tape.push(Node { parents, partials });
        i
    });
    HandVar { v, i: pushed.expect("a tape without destructor lives as long as its thread") }
}

/// An operation with one active argument.
#[inline]
fn push1(v: f64, parent: u32, partial: f64) -> HandVar {
    push(v, [parent, parent], [partial, 0.0])
}

macro_rules! operators {
    ($($Op:ident $op:ident: ($a:ident, $b:ident) => $value:expr; $da:expr; $db:expr;)*) => {$(
        impl $Op for HandVar {
            type Output = HandVar;
            #[inline]
            fn $op(self, other: HandVar) -> HandVar {
                let ($a, $b) = (self.v, other.v);
                push($value, [self.i, other.i], [$da, $db])
            }
        }
        impl $Op<f64> for HandVar {
            type Output = HandVar;
            #[inline]
            #[allow(unused_variables, reason = "a derivative may not need both")]
            fn $op(self, $b: f64) -> HandVar {
                let $a = self.v;
                push1($value, self.i, $da)
            }
        }
        impl $Op<HandVar> for f64 {
            type Output = HandVar;
            #[inline]
            #[allow(unused_variables, reason = "a derivative may not need both")]
            fn $op(self, other: HandVar) -> HandVar {
                let ($a, $b) = (self, other.v);
                push1($value, other.i, $db)
            }
        }
    )*};
}
operators! {
    Add add: (a, b) => a + b; 1.0; 1.0;
    Sub sub: (a, b) => a - b; 1.0; -1.0;
    Mul mul: (a, b) => a * b; b; a;
    Div div: (a, b) => a / b; 1.0 / b; -a / (b * b);
}

impl AddAssign for HandVar {
    #[inline]
    fn add_assign(&mut self, other: HandVar) {
        *self = *self + other;
    }
}

impl Neg for HandVar {
    type Output = HandVar;
    #[inline]
    fn neg(self) -> HandVar {
        push1(-self.v, self.i, -1.0)
    }
}

impl Number for HandVar {
    #[inline]
    fn of(constant: f64) -> Self {
        push1(constant, 0, 0.0)
    }
    #[inline]
    fn sin(self) -> Self {
        push1(self.v.sin(), self.i, self.v.cos())
    }
    #[inline]
    fn cos(self) -> Self {
        push1(self.v.cos(), self.i, -self.v.sin())
    }
    #[inline]
    fn sqrt(self) -> Self {
        let s = self.v.sqrt();
        push1(s, self.i, 0.5 / s)
    }
}

/// Inputs, outputs and adjoints, reused.
pub(crate) struct Memory {
    x: Vec<HandVar>,
    y: Vec<HandVar>,
    adjoints: Vec<f64>,
}

impl Memory {
    pub(crate) fn new(inputs: usize, outputs: usize) -> Self {
        Memory { x: Vec::with_capacity(inputs), y: vec![HandVar::default(); outputs], adjoints: Vec::new() }
    }

    fn start(&mut self, x: &[f64]) {
        TAPE.with_borrow_mut(|tape| tape.clear());
        self.x.clear();
        self.x.extend(x.iter().map(|&v| push1(v, 0, 0.0)));
    }

    fn sweep(&mut self, output: HandVar, grad: &mut [f64]) {
        TAPE.with_borrow(|tape| {
            self.adjoints.clear();
            self.adjoints.resize(tape.len(), 0.0);
            self.adjoints[output.i as usize] = 1.0;
            for i in (grad.len()..=output.i as usize).rev() {
                let Node { parents, partials } = tape[i];
                let a = self.adjoints[i];
                self.adjoints[parents[0] as usize] += partials[0] * a;
                self.adjoints[parents[1] as usize] += partials[1] * a;
            }
            grad.copy_from_slice(&self.adjoints[..grad.len()]);
        });
    }

    pub(crate) fn gradient<W: Sum>(&mut self, grad: &mut [f64], x: &[f64]) -> f64 {
        self.start(x);
        let y = W::value(&self.x);
        self.sweep(y, grad);
        y.v
    }

    pub(crate) fn jacobian<W: System>(&mut self, value: &mut [f64], jac: &mut [f64], x: &[f64]) {
        self.start(x);
        W::value(&mut self.y, &self.x);
        for i in 0..self.y.len() {
            let y = self.y[i];
            value[i] = y.v;
            self.sweep(y, &mut jac[i * x.len()..][..x.len()]);
        }
    }
}
