//! Hessian-vector products at one point, of which only the tangents vary.
//!
//! Called by users. Calls the [`HvpSamePointBackend`], which keeps what depends on the point alone.

use super::backend::HvpSamePointBackend;
use super::checks::{check_buffers, named};
use crate::container::Buffer;
use crate::error::Error;
use crate::operators::call::{Memory, checked_tangents, like, write};
use crate::point::{At, LikeOf, Point, ScalarOf, Shape};
use crate::pointer::Pointer;

/// Fixes the point of Hessian-vector products and computes everything that depends on it alone: value and gradient always, and in
/// reverse mode the linearisation of the gradient, so that the function is not run again.
///
/// Reverse over reverse keeps the linearisation. Forward over reverse cannot, so its inner backend is then used as the outer one
/// too. If the inner backend is a forward one, the function runs again for other tangents.
///
/// # Errors
/// Those of [`hvp`](super::hvp).
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// # fn cubic<T: Real>(x: &[T]) -> T { x[0] * x[0] * x[1] }
/// let backend = SecondOrder(AutoReverseDiff::default(), AutoReverseDiff::default());
/// let mut prepared = prepare_hvp_same_point(&cubic, &backend, &[2.0, 5.0], [&[0.0; 2]])?;
/// assert_eq!((prepared.value(), prepared.gradient()), (20.0, vec![20.0, 4.0]));
/// assert_eq!(prepared.hvp([&[1.0, -1.0]])?, [[6.0, 4.0]]);
/// assert_eq!(prepared.hvp([&[0.0, 1.0]])?, [[4.0, 0.0]]);
/// # Ok::<(), Error>(())
/// ```
pub fn prepare_hvp_same_point<H, B, P, D, const T: usize>(
    f: H,
    backend: &B,
    x: P,
    tangents: [D; T],
) -> Result<PreparedHvpSamePoint<H, B, P, T>, Error>
where
    P: Point,
    D: Point<Shape: Shape<Scalar = ScalarOf<P>>>,
    H: Pointer,
    B: HvpSamePointBackend<H::Function, P::Shape, P::Contexts, T>,
{
    let (mut memory, mut flat) = (Memory::new(), std::array::from_fn(|_| Vec::new()));
    let at = At::new(&x, &mut memory.point);
    let seeds = checked_tangents(&x, at.coordinates().len(), &tangents, &mut flat);
    let seeds = seeds.map_err(|kind| named::<P::Shape>(kind, B::BACKEND))?;
    let mut state = backend.hold(f.function(), at)?;
    // One call sizes the work memory of the products.
    backend.prepare_held(&mut state, f.function(), at, &seeds)?;
    let inputs = at.coordinates().len();
    memory.prepare();
    Ok(PreparedHvpSamePoint { function: f, backend: backend.clone(), state, point: x, inputs, memory, tangents: flat })
}

/// Hessian-vector products prepared at one point, made by [`prepare_hvp_same_point`]: H v for each of `T` tangents v, which alone vary.
///
/// [`hvp`](Self::hvp) returns the products, [`hvp_into`](Self::hvp_into) writes them into buffers; [`value`](Self::value) and [`gradient`](Self::gradient) are those of the preparation. One
/// thread at a time; clone it for another thread.
///
/// A struct names it by the pointer to the function, the backend, the type of the point and the number of tangents. It keeps the point: a struct has an array.
///
/// # Example
/// ```
/// # use differentiation_interface::prelude::*;
/// use std::sync::Arc;
///
/// #[differentiable]
/// fn cubic(x: &[f64; 2]) -> f64 {
///     x[0] * x[0] * x[1]
/// }
/// struct System {
///     hvp: PreparedHvpSamePoint<Arc<Cubic>, AutoReverseDiff, [f64; 2], 1>,
/// }
///
/// let hvp = prepare_hvp_same_point(Arc::new(Cubic), &AutoReverseDiff::default(), [2.0, 5.0], [[0.0; 2]])?;
/// let mut system = System { hvp };
/// assert_eq!((system.hvp.value(), system.hvp.gradient()), (20.0, [20.0, 4.0]));
/// assert_eq!(system.hvp.hvp([[1.0, -1.0]])?, [[6.0, 4.0]]);
/// # Ok::<(), Error>(())
/// ```
pub struct PreparedHvpSamePoint<H, B, P, const T: usize>
where
    H: Pointer,
    P: Point,
    B: HvpSamePointBackend<H::Function, P::Shape, P::Contexts, T>,
{
    function: H,
    backend: B,
    state: B::State,
    point: P,
    inputs: usize,
    memory: Memory<ScalarOf<P>>,
    /// The numbers of tangents that do not lie in one piece.
    tangents: [Vec<ScalarOf<P>>; T],
}

impl<H, B, P, const T: usize> Clone for PreparedHvpSamePoint<H, B, P, T>
where
    H: Pointer + Clone,
    P: Point + Clone,
    B: HvpSamePointBackend<H::Function, P::Shape, P::Contexts, T>,
{
    fn clone(&self) -> Self {
        PreparedHvpSamePoint {
            function: self.function.clone(),
            backend: self.backend.clone(),
            state: self.state.clone(),
            point: self.point.clone(),
            inputs: self.inputs,
            memory: self.memory.clone(),
            tangents: self.tangents.clone(),
        }
    }
}

impl<H, B, P, const T: usize> PreparedHvpSamePoint<H, B, P, T>
where
    H: Pointer,
    P: Point,
    B: HvpSamePointBackend<H::Function, P::Shape, P::Contexts, T>,
{
    /// The value at the point, evaluated by the preparation.
    pub fn value(&self) -> ScalarOf<P> {
        B::value(&self.state)
    }

    /// The gradient at the point, evaluated by the preparation.
    pub fn gradient(&self) -> LikeOf<P> {
        like(&self.point, &mut Vec::new(), |grad| grad.copy_from_slice(B::gradient(&self.state)))
    }

    /// Returns the products with other tangents.
    ///
    /// # Errors
    /// Those of [`hvp`](super::hvp).
    pub fn hvp<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        tangents: [D; T],
    ) -> Result<[LikeOf<P>; T], Error> {
        self.run(&tangents)?;
        let product = |k| like(&self.point, &mut self.memory.result, |out| B::copy_product(&self.state, k, out));
        Ok(std::array::from_fn(product))
    }

    /// Writes the products with other tangents into the buffers.
    ///
    /// # Errors
    /// Those of [`hvp_into`](super::hvp_into).
    pub fn hvp_into<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(
        &mut self,
        products: [&mut (impl Buffer<ScalarOf<P>> + ?Sized); T],
        tangents: [D; T],
    ) -> Result<(), Error> {
        check_buffers(&self.point, self.inputs, &products, B::BACKEND)?;
        self.run(&tangents)?;
        for (k, product) in products.into_iter().enumerate() {
            write(product, &mut self.memory.result, |out| B::copy_product(&self.state, k, out));
        }
        Ok(())
    }

    fn run<D: Point<Shape: Shape<Scalar = ScalarOf<P>>>>(&mut self, tangents: &[D; T]) -> Result<(), Error> {
        let tangents = checked_tangents(&self.point, self.inputs, tangents, &mut self.tangents);
        let tangents = tangents.map_err(|kind| named::<P::Shape>(kind, B::BACKEND))?;
        let at = At::new(&self.point, &mut self.memory.point);
        self.backend.held(&mut self.state, self.function.function(), at, &tangents)
    }
}
