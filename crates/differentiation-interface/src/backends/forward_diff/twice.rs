//! Second order by numbers for both differentiations: the primitive of products with a Hessian, and of second derivatives in one variable.
//!
//! Called by the route [`HyperDualRoute`](differentiation_interface_core::backend::HyperDualRoute); runs the user's function
//! on [`HyperDual`] or [`SecondDual`].

use super::dual::Level;
use super::hyper_dual::{HyperDual, HyperDualCore};
use super::second_dual::{SecondDual, SecondDualCore};
use super::{AutoForwardDiff, ChunkSize, DualCore, ForwardState, chunk_size};
use differentiation_interface_core::backend::{HyperDualPrimitive, Lanes, LiftPair, Rows, Seeds, ValueAndGradient};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::fault;
use differentiation_interface_core::recordings::EngineScalar;
use differentiation_interface_core::scalar::{Num, Scalar};
use num_traits::Float;

/// Active inputs and outputs, reused by all calls: lanes `O` along seeds, `L` along inputs.
#[derive(Clone, Debug)]
pub struct HyperState<S: Scalar, O: Lanes, L: Lanes> {
    /// The point with tangents along seeds, and the largest number of seeds in a pass.
    seeded: ForwardState<S, O>,
    x: Vec<HyperDual<S, O, L>>,
    y: Vec<HyperDual<S, O, L>>,
    /// The largest number of inputs with a lane in a pass.
    lanes: usize,
}

impl<B: ChunkSize, C: ChunkSize, S: Scalar, O: Lanes> LiftPair<AutoForwardDiff<B>, S, HyperDual<S, O, C::Second>>
    for AutoForwardDiff<C>
{
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift_pair(value: S) -> HyperDual<S, O, C::Second> {
        Num(HyperDualCore::inert(Num(DualCore::inert(value))))
    }
}

impl<B: ChunkSize, C: ChunkSize, S: Scalar> LiftPair<AutoForwardDiff<B>, S, SecondDual<S>> for AutoForwardDiff<C> {
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn lift_pair(value: S) -> SecondDual<S> {
        Num(SecondDualCore::inert(value))
    }
}

impl<C: ChunkSize> AutoForwardDiff<C> {
    /// The chunk size along seeds with the lanes `L`, if it is fixed. It is for lanes that the operator has not chosen: those of a Hessian, here or in
    /// numbers of several backends.
    fn chunk_of_seeds<L: Lanes>(&self) -> Option<usize> {
        self.0.fixed().filter(|_| L::ROOM == C::Second::ROOM || L::ROOM == C::Lanes::ROOM)
    }
}

impl<C: ChunkSize> HyperDualPrimitive for AutoForwardDiff<C> {
    type HyperLanes = C::Second;
    type HyperDual<S: Scalar, L: Lanes> = HyperDual<S, L, C::Second>;
    type HyperState<S: Scalar, L: Lanes> = HyperState<S, L, C::Second>;

    fn check_seeds<L: Lanes>(&self, inputs: usize, seeds: usize) -> Result<(), Error> {
        let Some(chunk) = self.chunk_of_seeds::<L>() else { return Ok(()) };
        // A chunk that fits the inputs is cut to the lanes, which fewer seeds are compared with.
        let fewest = if seeds == inputs { chunk } else { chunk.min(L::N) };
        match seeds > 0 && seeds < fewest {
            true => Err(ErrorKind::ChunkTooLarge { chunk, inputs }.into()),
            false => Ok(()),
        }
    }

    fn seeds_at_once<L: Lanes>(&self) -> usize {
        self.chunk_of_seeds::<L>().map_or(L::N, |chunk| chunk.min(L::N))
    }

    fn hyper_state<S: Scalar, L: Lanes>(
        &self,
        inputs: usize,
        seeds_at_once: usize,
    ) -> Result<Self::HyperState<S, L>, Error> {
        match self.0.fixed() {
            Some(chunk) if chunk > inputs && inputs > 0 => Err(ErrorKind::ChunkTooLarge { chunk, inputs }.into()),
            fixed => Ok(HyperState {
                seeded: ForwardState::new(seeds_at_once),
                x: Vec::new(),
                y: Vec::new(),
                lanes: fixed.map_or(C::Second::N, |chunk| chunk.min(C::Second::N)),
            }),
        }
    }

    #[inline]
    fn hyper_products<S: Scalar, L: Lanes, F: Flat<Self::HyperDual<S, L>>>(
        &self,
        state: &mut Self::HyperState<S, L>,
        f: &mut F,
        x: &[S],
        seeds: Seeds<'_, S>,
        point: Option<&mut ValueAndGradient<S>>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let total = seeds.count();
        rows.set_rows(total)?;
        let mut point = point;
        if let Some(point) = &mut point {
            point.gradient.resize(x.len(), S::default());
        }
        let mut products = Products { seeds, point, rows };
        let width = chunk_size(total, state.seeded.lanes);
        let mut first = 0;
        loop {
            let count = width.min(total - first);
            state.products_of(f, x, first, count, &mut products)?;
            // Value and gradient come with the first seeds.
            products.point = None;
            first += count;
            if first >= total {
                return Ok(());
            }
        }
    }

    type SecondDual<S: Scalar> = SecondDual<S>;

    #[inline]
    fn second_derivative<S: Scalar, F: Flat<SecondDual<S>>>(
        &self,
        outputs: &mut Vec<SecondDual<S>>,
        f: &mut F,
        x: S,
        lower: Option<[&mut Vec<S>; 2]>,
        mut rows: Rows<'_, S>,
    ) -> Result<(), Error> {
        let level = Level::enter();
        f.call(&[Num(SecondDualCore::variable(x, &level))], outputs);
        level.check_marks(outputs.iter().map(|y| y.0.identity()))?;
        rows.set_rows(outputs.len())?;
        for (der2, y) in rows.data().iter_mut().zip(&*outputs) {
            *der2 = y.0.second();
        }
        if let Some([values, der]) = lower {
            values.clear();
            values.extend(outputs.iter().map(|y| y.0.value()));
            der.clear();
            der.extend(outputs.iter().map(|y| y.0.first()));
        }
        Ok(())
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn second_derivative_on_stack<S: Scalar, F: Flat<SecondDual<S>>>(
        &self,
        f: &mut F,
        x: S,
        [values, der, der2]: [&mut [S]; 3],
    ) -> bool {
        // As in `on_stack`.
        let level = if f.captures() { Level::enter() } else { Level::unnamed() };
        let variable = Num(SecondDualCore::variable(x, &level));
        let write = |outputs: &[SecondDual<S>]| {
            if level.check_marks(outputs.iter().map(|y| y.0.identity())).is_err() || der2.len() != outputs.len() {
                return false;
            }
            for (((value, der), der2), y) in values.iter_mut().zip(der).zip(der2).zip(outputs) {
                (*value, *der, *der2) = (y.0.value(), y.0.first(), y.0.second());
            }
            true
        };
        matches!(fault::watch(|| Ok(f.call_fixed(|_| variable, write))), Ok(true))
    }
}

/// The results that a call fills.
struct Products<'a, S> {
    seeds: Seeds<'a, S>,
    point: Option<&'a mut ValueAndGradient<S>>,
    rows: Rows<'a, S>,
}

impl<S: Scalar, O: Lanes, L: Lanes> HyperState<S, O, L> {
    /// Sets the point with the tangents of seeds `first..first + count`, which are a differentiation of their own.
    #[inline]
    fn seed(&mut self, x: &[S], products: &Products<'_, S>, first: usize, count: usize) -> Level {
        let level = Level::enter();
        self.seeded.set_point(x);
        ForwardState::seed(&mut self.seeded.x, &products.seeds, first, count, &level);
        self.x.clear();
        self.x.extend(self.seeded.x.iter().map(|&v| Num(HyperDualCore::inert(v))));
        level
    }

    /// Fills the products of seeds `first..first + count`, in as many passes as the inputs need.
    #[inline]
    fn products_of<F: Flat<HyperDual<S, O, L>>>(
        &mut self,
        f: &mut F,
        x: &[S],
        first: usize,
        count: usize,
        products: &mut Products<'_, S>,
    ) -> Result<(), Error> {
        let mut seeds = self.seed(x, products, first, count);
        let inputs = x.len();
        let width = chunk_size(inputs, self.lanes);
        let (mut start, mut follows) = (0, false);
        loop {
            let lanes = width.min(inputs - start);
            if follows {
                // The tangents of the last pass go, those of this one come.
                f.changed(start - width..start + lanes);
            }
            follows = true;
            self.pass(f, start, lanes, &seeds)?;
            let spoilt = self.write(start, lanes, first, count, products);
            if spoilt && (lanes > 1 || count > 1) {
                seeds = self.separate_passes(f, x, start..start + lanes, first..first + count, products)?;
                follows = false;
            }
            start += lanes;
            if start >= inputs {
                return Ok(());
            }
        }
    }

    /// Runs the function once with lanes along inputs `start..start + lanes`, which are another differentiation than the `seeds`.
    #[inline]
    fn pass<F: Flat<HyperDual<S, O, L>>>(
        &mut self,
        f: &mut F,
        start: usize,
        lanes: usize,
        seeds: &Level,
    ) -> Result<(), ErrorKind> {
        let level = Level::enter();
        for (lane, x) in self.x[start..][..lanes].iter_mut().enumerate() {
            x.0.set_lane(level.mark(), lane);
        }
        f.call(&self.x, &mut self.y);
        for x in &mut self.x[start..][..lanes] {
            x.0.clear_tangent();
        }
        let [y] = &self.y[..] else {
            return Err(ErrorKind::OutputLength { expected: 1, found: self.y.len() });
        };
        level.check_marks([y.0.level()].into_iter())?;
        seeds.check(&[y.0.value()])
    }

    /// Writes the results of a pass. Returns whether one of them is NaN.
    #[inline]
    fn write(&self, start: usize, lanes: usize, first: usize, count: usize, products: &mut Products<'_, S>) -> bool {
        let y = &self.y[0].0;
        let mut spoilt = false;
        let mut copy = |out: &mut [S], derivatives: Option<&[S]>| match derivatives {
            Some(derivatives) => {
                out.copy_from_slice(&derivatives[..lanes]);
                spoilt |= out.iter().any(|v| v.peek().is_nan());
            }
            None => out.fill(S::default()),
        };
        if let Some(point) = &mut products.point {
            point.value = y.value().0.value();
            copy(&mut point.gradient[start..][..lanes], y.first());
        }
        for seed in 0..count {
            copy(products.rows.part(first + seed, start, lanes), y.second(seed));
        }
        spoilt
    }

    /// Propagates seeds and inputs one by one, so that no lane affects another. Returns the mark of the seeds that it sets again.
    ///
    /// Lanes share the derivatives of operations: where one is infinite or not a number, a lane that does not depend on it gets its
    /// product with 0.
    #[cold]
    #[inline(never)]
    fn separate_passes<F: Flat<HyperDual<S, O, L>>>(
        &mut self,
        f: &mut F,
        x: &[S],
        inputs: std::ops::Range<usize>,
        seeds: std::ops::Range<usize>,
        products: &mut Products<'_, S>,
    ) -> Result<Level, Error> {
        let (first, count) = (seeds.start, seeds.len());
        let alone = count.min(1);
        for seed in first..first + count.max(1) {
            let level = self.seed(x, products, seed, alone);
            for input in inputs.clone() {
                self.pass(f, input, 1, &level)?;
                self.write(input, 1, seed, alone, products);
            }
        }
        Ok(self.seed(x, products, first, count))
    }
}
