//! The buffers of a call, and the derivatives that fill them.
//!
//! Made and called by the primitives of the backend; calls the functions in `differentiated`.

use crate::differentiated::{forward, reverse};
use differentiation_interface_core::backend::{Rows, Seeds};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::scalar::{Base, Scalar};
use std::hint::black_box;

/// Point, outputs, and their tangents or cotangents.
#[derive(Clone, Debug)]
pub struct EnzymeState<N> {
    x: Vec<N>,
    dx: Vec<N>,
    y: Vec<N>,
    dy: Vec<N>,
    /// The outputs of a plain call.
    outputs: Vec<N>,
    /// Whether the length of `y` is that of an output of this function.
    knows_outputs: bool,
}

/// Refuses builds in which a derivative would be wrong or cannot be compiled.
fn check_build() -> Result<(), ErrorKind> {
    if cfg!(debug_assertions) {
        return Err(ErrorKind::Refused {
            what: "builds with debug assertions pass functions on as trait objects, which Enzyme cannot differentiate",
            instead: "build in release mode with `lto = \"fat\"` and RUSTFLAGS=\"--cfg ad_enzyme -Zautodiff=Enable\"",
        });
    }
    Ok(())
}

impl<N: Base> EnzymeState<N> {
    /// An empty state, or the reason why this build has no derivatives.
    pub(crate) fn new() -> Result<Self, Error> {
        check_build()?;
        Ok(EnzymeState {
            x: Vec::new(),
            dx: Vec::new(),
            y: Vec::new(),
            dy: Vec::new(),
            outputs: Vec::new(),
            knows_outputs: false,
        })
    }

    /// Takes the point.
    pub(crate) fn set_point<S: Scalar<Base = N>>(&mut self, x: &[S]) {
        self.x.clear();
        self.x.extend(x.iter().map(|v| v.primal()));
        self.dx.resize(x.len(), N::ZERO);
    }

    /// Evaluates without derivatives, which finds the number of outputs.
    pub(crate) fn evaluate<F: Flat<N>>(&mut self, f: &mut F) {
        f.call(&self.x, &mut self.outputs);
        self.y.clone_from(&self.outputs);
        self.dy.resize(self.y.len(), N::ZERO);
        self.knows_outputs = true;
    }

    /// Evaluates if the number of outputs is not known from an earlier call.
    pub(crate) fn find_outputs<F: Flat<N>>(&mut self, f: &mut F) {
        if !self.knows_outputs {
            self.evaluate(f);
        }
    }

    /// The number of outputs that the buffers are for.
    pub(crate) fn outputs(&self) -> usize {
        self.y.len()
    }

    /// Copies the outputs.
    pub(crate) fn copy_values<S: Scalar<Base = N>>(&self, y: &mut Vec<S>) {
        y.clear();
        y.extend(self.y.iter().map(|&v| S::constant(v)));
    }

    /// One column of products per tangent. Starts again if the function has a different number of outputs than before, which `rows` refuses if a preparation
    /// has fixed it.
    pub(crate) fn forward<S: Scalar<Base = N>, F: Flat<N>>(
        &mut self,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let mut k = 0;
        while k < seeds.count() {
            for (i, dx) in self.dx.iter_mut().enumerate() {
                *dx = seeds.entry(k, i).primal();
            }
            self.dy.fill(N::ZERO);
            let mut found = 0;
            forward(f, &self.x, &self.dx, &mut self.y, &mut self.dy, &mut found, &black_box(N::ONE));
            if self.accept(f, found, k)? {
                k = 0;
                continue;
            }
            if k == 0 {
                rows.set_rows(self.y.len())?;
            }
            for (i, &dy) in self.dy.iter().enumerate() {
                rows.part(i, k, 1)[0] = S::constant(dy);
            }
            k += 1;
        }
        Ok(())
    }

    /// One row of products per cotangent. The outputs must be those of this point.
    pub(crate) fn reverse<S: Scalar<Base = N>, F: Flat<N>>(
        &mut self,
        f: &mut F,
        seeds: Seeds<'_, S>,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        rows.set_rows(seeds.count())?;
        for k in 0..seeds.count() {
            self.reverse_one(f, |i| seeds.entry(k, i).primal())?;
            for (entry, &dx) in rows.part(k, 0, self.x.len()).iter_mut().zip(&self.dx) {
                *entry = S::constant(dx);
            }
        }
        Ok(())
    }

    /// All rows of the Jacobian, one pullback each. Starts again as [`forward`](Self::forward) does.
    pub(crate) fn rows<S: Scalar<Base = N>, F: Flat<N>>(
        &mut self,
        f: &mut F,
        rows: &mut Rows<'_, S>,
    ) -> Result<(), Error> {
        let mut k = 0;
        while k < self.y.len() {
            let outputs = self.y.len();
            match self.reverse_one(f, |i| if i == k { N::ONE } else { N::ZERO }) {
                Err(_) if k == 0 && self.y.len() != outputs => continue,
                result => result?,
            }
            if k == 0 {
                rows.set_rows(outputs)?;
            }
            for (entry, &dx) in rows.part(k, 0, self.x.len()).iter_mut().zip(&self.dx) {
                *entry = S::constant(dx);
            }
            k += 1;
        }
        if self.y.is_empty() {
            rows.set_rows(0)?;
        }
        Ok(())
    }

    /// One pullback, into `dx`.
    fn reverse_one<F: Flat<N>>(&mut self, f: &mut F, cotangent: impl Fn(usize) -> N) -> Result<(), Error> {
        self.dx.fill(N::ZERO);
        for (i, dy) in self.dy.iter_mut().enumerate() {
            *dy = cotangent(i);
        }
        let mut found = 0;
        reverse(f, &self.x, &mut self.dx, &mut self.y, &mut self.dy, &mut found, &black_box(N::ONE));
        let expected = self.y.len();
        if self.accept(f, found, 0)? {
            return Err(ErrorKind::OutputLength { expected, found }.into());
        }
        Ok(())
    }

    /// Whether the buffers were for another number of outputs than `found`, and are now for that number. An error if that happens after the
    /// first product.
    fn accept<F: Flat<N>>(&mut self, f: &mut F, found: usize, k: usize) -> Result<bool, Error> {
        let expected = self.y.len();
        if found == expected {
            return Ok(false);
        }
        self.evaluate(f);
        if k > 0 || self.y.len() != found {
            return Err(ErrorKind::OutputLength { expected, found }.into());
        }
        Ok(true)
    }
}
