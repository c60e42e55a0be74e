//! One share of the products with a Hessian: products on one thread.
//!
//! Called by `hessian`, `hvp` and `sparse_hessian`; calls the inner backends' route through `HessianWork`.

use super::division::{Division, share_out};
use differentiation_interface_core::backend::{
    ColumnMemory, HvpRoute, Lanes, MatrixColumns, Request, Rows, SecondOrderBackend, Seeds,
};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::Evaluate;
use differentiation_interface_core::operators::HessianWork;
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::Scalar;

/// The route of two backends, its lanes and its number.
pub(super) type Route<B> = <B as SecondOrderBackend>::Hvp;
pub(super) type RouteLanes<B> =
    <Route<B> as HvpRoute<<B as SecondOrderBackend>::Outer, <B as SecondOrderBackend>::Inner>>::Lanes;
pub(super) type RouteNum<B, X, L> = <Route<B> as HvpRoute<
    <B as SecondOrderBackend>::Outer,
    <B as SecondOrderBackend>::Inner,
>>::Num<<X as Shape>::Scalar, L>;

/// Work and memory of one share.
pub(super) struct HessianShare<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> {
    pub(super) work: HessianWork<B, X, C, L>,
    memory: ColumnMemory<X::Scalar>,
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> Clone for HessianShare<B, X, C, L> {
    fn clone(&self) -> Self {
        HessianShare { work: self.work.clone(), memory: self.memory.clone() }
    }
}

/// The shares of a call; the first one also works alone.
pub struct HessianShares<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> {
    shares: Vec<HessianShare<B, X, C, L>>,
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> Clone for HessianShares<B, X, C, L> {
    fn clone(&self) -> Self {
        HessianShares { shares: self.shares.clone() }
    }
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> HessianShares<B, X, C, L> {
    /// One share with this work.
    pub(super) fn new(work: HessianWork<B, X, C, L>) -> Self {
        HessianShares { shares: vec![HessianShare { work, memory: ColumnMemory::default() }] }
    }
    /// The work of the first share, which has value and gradient.
    pub(super) fn first(&self) -> &HessianWork<B, X, C, L> {
        &self.shares[0].work
    }
    /// The same for a call on the calling thread.
    pub(super) fn first_mut(&mut self) -> &mut HessianWork<B, X, C, L> {
        &mut self.shares[0].work
    }

    /// Makes one share for each part. The others are clones of the first one, whose recordings they share.
    pub(super) fn grow(&mut self, division: &Division) {
        self.shares.truncate(division.parts());
        while self.shares.len() < division.parts() {
            self.shares.push(self.shares[0].clone());
        }
    }

    /// Makes the shares and sizes their memory by the first products of each.
    pub(super) fn prepare<F, P>(
        &mut self,
        f: &F,
        x: At<'_, P>,
        seeds: Seeds<'_, X::Scalar>,
        division: &Division,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        F: Evaluate<X, C, RouteNum<B, X, L>> + Sync,
    {
        self.shares.truncate(1);
        if !division.is_parallel() {
            return Ok(());
        }
        self.grow(division);
        let (contexts, x) = (x.contexts(), x.coordinates());
        let none: &mut [X::Scalar] = &mut [];
        share_out(&mut self.shares, none, &|_| 0, &|part, share, _| {
            let request = if part == 0 { Request::Value } else { Request::Products };
            share.fill(f, contexts, x, seeds, (division, part), request, Target::Nowhere)
        })
    }

    /// Fills a matrix with one row per seed, or one column if the route has these.
    pub(super) fn fill<F, P>(
        &mut self,
        f: &F,
        x: At<'_, P>,
        seeds: Seeds<'_, X::Scalar>,
        division: &Division,
        request: Request,
        matrix: &mut [X::Scalar],
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        F: Evaluate<X, C, RouteNum<B, X, L>> + Sync,
    {
        let shares = &mut self.shares;
        shares.iter_mut().for_each(|share| share.work.fit(x));
        let are_rows = shares[0].work.seeds_are_rows();
        let (contexts, x) = (x.contexts(), x.coordinates());
        let wanted = |part| if part == 0 { request } else { Request::Products };
        if are_rows {
            let start = |part| division.start(part) * x.len();
            return share_out(shares, matrix, &start, &|part, share, rows| {
                share.fill(f, contexts, x, seeds, (division, part), wanted(part), Target::Rows(rows))
            });
        }
        let columns = MatrixColumns::new(matrix, seeds.count());
        share_out(shares, columns, &|part| division.start(part), &|part, share, rows| {
            share.fill(f, contexts, x, seeds, (division, part), wanted(part), Target::Columns(rows))
        })
    }
}

/// Where products go.
enum Target<'a, S> {
    /// One row per seed.
    Rows(&'a mut [S]),
    /// One column per seed.
    Columns(MatrixColumns<'a, S>),
    /// Nowhere: the first products alone, which size the memory.
    Nowhere,
}

impl<B: SecondOrderBackend, X: Shape, C: Contexts, L: Lanes> HessianShare<B, X, C, L> {
    /// Fills the products of the seeds of `part`, and keeps what is requested.
    #[expect(clippy::too_many_arguments, reason = "what differs from share to share, and what does not")]
    fn fill<F>(
        &mut self,
        f: &F,
        contexts: C::Values<'_>,
        x: &[X::Scalar],
        seeds: Seeds<'_, X::Scalar>,
        (division, part): (&Division, usize),
        request: Request,
        mut target: Target<'_, X::Scalar>,
    ) -> Result<(), Error>
    where
        F: Evaluate<X, C, RouteNum<B, X, L>>,
    {
        let HessianShare { work, memory } = self;
        let (range, inputs) = (division.range(part), x.len());
        let most = if matches!(target, Target::Nowhere) { 1 } else { range.len() };
        let mut request = request;
        for taken in division.calls(part, most) {
            let (first, count) = (taken.start - range.start, taken.len());
            let width = if work.seeds_are_rows() { inputs } else { count };
            let seeds = seeds.part(taken.start, count);
            // Value and gradient come with the first seeds.
            let request = std::mem::replace(&mut request, Request::Products);
            let mut fill = |rows: Rows<'_, X::Scalar>| work.fitted_products(f, contexts, x, seeds, request, rows);
            match &mut target {
                Target::Rows(rows) => fill(Rows::fixed(&mut rows[first * inputs..][..count * inputs], inputs))?,
                Target::Columns(columns) => memory.with_rows(columns.range(first..first + count), fill)?,
                Target::Nowhere => return fill(memory.rows(width)),
            }
        }
        Ok(())
    }
}

/// The number of seeds of one pass.
pub(super) fn per_pass<B: SecondOrderBackend, L: Lanes>(backend: &B, seeds: usize) -> usize {
    Route::<B>::seeds_per_pass::<L>(&backend.pair(), seeds)
}

/// The work of products with a Hessian of `inputs` inputs per seed: each is a gradient.
pub(super) fn numbers<S: Scalar>(x: &[S]) -> usize {
    2 * x.len()
}
