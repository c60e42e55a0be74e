//! A dense derivative matrix in shares of columns or rows.
//!
//! Called by `gradient` and `jacobian`; calls the shares.

use super::columns::{Call, ColumnShare};
use super::division::{Division, share_out};
use super::rows::RowShare;
use super::setting::AutoThreaded;
use differentiation_interface_core::backend::{
    Backend, Direction, Lanes, MatrixColumns, PullbackRoute, PushforwardRoute, Seeds,
};
use differentiation_interface_core::context::Contexts;
use differentiation_interface_core::error::Error;
use differentiation_interface_core::evaluate::{Evaluate, Output};
use differentiation_interface_core::operators::NumOf;
use differentiation_interface_core::point::{At, Point, Shape};
use differentiation_interface_core::scalar::Scalar;

/// The shares of a matrix, of which only one kind is in use.
pub struct Dense<B: Backend, X: Shape, C: Contexts, L: Lanes, K> {
    columns: Vec<ColumnShare<B, X, C, L, K>>,
    rows: Vec<RowShare<B, X, C, L, K>>,
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes, K: Clone> Clone for Dense<B, X, C, L, K> {
    fn clone(&self) -> Self {
        Dense { columns: self.columns.clone(), rows: self.rows.clone() }
    }
}

/// A division of the columns or the rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan {
    direction: Direction,
    division: Division,
    outputs: usize,
}

impl Plan {
    /// How to divide a matrix of `outputs` × `inputs`; `None` if it is computed on the calling thread.
    pub(super) fn new<B: Backend, S: Scalar, L: Lanes>(
        threaded: &AutoThreaded<B>,
        direction: Option<Direction>,
        inputs: usize,
        outputs: usize,
    ) -> Option<Self> {
        let (direction, backend, numbers) = (direction?, threaded.backend(), inputs + outputs);
        let division = match direction {
            Direction::Reverse => {
                let per_pass = B::Pullback::seeds_per_pass::<L>(backend, outputs);
                threaded.division::<S>(outputs, per_pass, numbers)
            }
            Direction::Forward | Direction::Both => {
                let per_pass = B::Pushforward::seeds_per_pass::<L>(backend, inputs);
                threaded.division::<S>(inputs, per_pass, numbers)
            }
        };
        division.is_parallel().then_some(Plan { direction, division, outputs })
    }
}

impl<B: Backend, X: Shape, C: Contexts, L: Lanes, K: Default + Send> Dense<B, X, C, L, K> {
    /// Without shares.
    pub(super) fn new() -> Self {
        Dense { columns: Vec::new(), rows: Vec::new() }
    }

    /// The outputs of the last call with the value.
    pub(super) fn y(&self) -> &[X::Scalar] {
        match (self.columns.first(), self.rows.first()) {
            (Some(share), _) => &share.y,
            (_, Some(share)) => &share.y,
            _ => &[],
        }
    }

    /// What the last call kept of the output.
    pub(super) fn kept(&self) -> Option<&K> {
        self.columns.first().map(|share| &share.kept).or_else(|| self.rows.first().map(|share| &share.kept))
    }

    /// Makes one share per part, and fits all to the point.
    fn prepare_shares<P>(&mut self, backend: &B, plan: &Plan, x: At<'_, P>) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
    {
        let parts = plan.division.parts();
        let (columns, rows) = if plan.direction == Direction::Reverse { (0, parts) } else { (parts, 0) };
        self.columns.truncate(columns);
        self.rows.truncate(rows);
        while self.columns.len() < columns {
            self.columns.push(ColumnShare::new(backend, x, x.coordinates().len())?);
        }
        while self.rows.len() < rows {
            self.rows.push(RowShare::new(backend, x)?);
        }
        self.columns.iter_mut().for_each(|share| share.fit(x));
        self.rows.iter_mut().for_each(|share| share.fit(x));
        Ok(())
    }

    /// Fills a matrix as `plan` divides it, and keeps the value if `with_value`. Without a matrix, the first products of each share size its
    /// memory.
    pub(super) fn fill<F, P>(
        &mut self,
        backend: &B,
        plan: &Plan,
        f: &F,
        x: At<'_, P>,
        with_value: bool,
        matrix: Option<&mut [X::Scalar]>,
    ) -> Result<(), Error>
    where
        P: Point<Shape = X, Contexts = C>,
        C: for<'v> Contexts<Values<'v>: Send + Sync>,
        F: Evaluate<X, C, NumOf<B, X, L>, Output: Output<NumOf<B, X, L>, Kept = K>> + Sync,
    {
        self.prepare_shares(backend, plan, x)?;
        let Dense { columns, rows } = self;
        let Plan { division, outputs, .. } = plan;
        let call = Call { backend, function: f, contexts: x.contexts(), x: x.coordinates() };
        let inputs = call.x.len();
        let (is_sizing, matrix) = (matrix.is_none(), matrix.unwrap_or_default());
        if plan.direction == Direction::Reverse {
            let start = |part| if is_sizing { 0 } else { division.start(part) * inputs };
            return share_out(rows, matrix, &start, &|part, share, matrix| {
                share.record(&call, Some(*outputs))?;
                let matrix = (!is_sizing).then_some(matrix);
                share.sweep(&call, Seeds::all(*outputs), (division, part), matrix)
            });
        }
        let start = |part| if is_sizing { 0 } else { division.start(part) };
        share_out(columns, MatrixColumns::new(matrix, inputs), &start, &|part, share, own| {
            let with_value = (with_value || is_sizing) && part == 0;
            let own = (!is_sizing).then_some(own);
            share.fill(&call, Seeds::all(inputs), (division, part), *outputs, with_value, own)
        })
    }
}
