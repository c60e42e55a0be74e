//! The trait of differential equations, and its parts as types.
//!
//! Implemented by users. Called by `derivatives` and `operators`.

use differentiation_interface::Real;

/// A system of differential equations M(t) dy/dt = f(y, p, t), y(t₀) = y₀(p, t₀) with the state y and the parameters p.
///
/// The methods are generic over their numbers, and write every entry of their first argument. Only the first four are required.
pub trait Ode: Sized {
    /// Length of the state.
    fn states(&self) -> usize;
    /// Number of parameters.
    fn parameters(&self) -> usize;
    /// Writes f(y, p, t).
    fn rhs<T: Real>(&self, dy: &mut [T], y: &[T], p: &[T], t: T);
    /// Writes y₀(p, t).
    fn initial<T: Real>(&self, y: &mut [T], p: &[T], t: T);

    /// Whether there is a mass matrix other than the identity.
    fn has_mass(&self) -> bool {
        false
    }
    /// Writes the product M(t) v; linear in `v`.
    fn mass<T: Real>(&self, product: &mut [T], v: &[T], _t: T) {
        product.copy_from_slice(v);
    }
    /// Number of outputs; 0 if the output is the state.
    fn outputs(&self) -> usize {
        0
    }
    /// Writes the outputs. Adjoint methods differentiate their integrals or their values at given times.
    fn out<T: Real>(&self, _out: &mut [T], _y: &[T], _p: &[T], _t: T) {}
    /// Number of event functions.
    fn roots(&self) -> usize {
        0
    }
    /// Writes the event functions: the solver stops where one changes its sign.
    fn root<T: Real>(&self, _root: &mut [T], _y: &[T], _p: &[T], _t: T) {}
}

/// A part of an [`Ode`] that is differentiated.
pub trait Part: 'static {
    /// Number of outputs.
    fn outputs<O: Ode>(ode: &O) -> usize;
    /// Writes them.
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T);
}

/// f(y, p, t).
pub struct Rhs;
/// y₀(p, t).
pub struct Initial;
/// M(t) y.
pub struct Mass;
/// The outputs.
pub struct Out;
/// The event functions.
pub struct Root;

impl Part for Rhs {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.states()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T) {
        ode.rhs(out, y, p, t);
    }
}
impl Part for Initial {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.states()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], _: &[T], p: &[T], t: T) {
        ode.initial(out, p, t);
    }
}
impl Part for Mass {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.states()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], _: &[T], t: T) {
        ode.mass(out, y, t);
    }
}
impl Part for Out {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.outputs()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T) {
        ode.out(out, y, p, t);
    }
}
impl Part for Root {
    fn outputs<O: Ode>(ode: &O) -> usize {
        ode.roots()
    }
    fn write<O: Ode, T: Real>(ode: &O, out: &mut [T], y: &[T], p: &[T], t: T) {
        ode.root(out, y, p, t);
    }
}
