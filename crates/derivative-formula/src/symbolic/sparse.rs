//! Sparse derivatives without tracers and without a search for colours: the pattern is that of the formulas.
//!
//! Called by `AutoSparse`, which asks the backend for entries.

use super::backend::AutoSymbolic;
use super::formulas::{Entries, Order, entries, limits, recording_error};
use super::pattern::CompressedRows;
use compiled_trace::{Graph, Recorded, Recorder};
use differentiation_interface_core::error::{Error, ErrorKind};
use differentiation_interface_core::evaluate::Flat;
use differentiation_interface_core::recordings::{EngineScalar, Recordable};
use differentiation_interface_core::scalar::{Base, Scalar};
use matrix_coloring::{ColoringAlgorithm, Colors, ConstantColoring, NEUTRAL, Pattern, ProblemKind};
use sparsity_tracer::SparsityDetector;

/// The pattern of the formulas of a derivative: the entries that `AutoSymbolic` computes.
///
/// The function runs once, at the point, and is differentiated symbolically. It must not branch on a value, since the pattern is to hold
/// at all points; choices by `select`, `max` and the like are no branches.
///
/// # Example
/// ```
/// use derivative_formula::{AutoSymbolic, FormulaSparsityDetector, SeparateColors};
/// use differentiation_interface::prelude::*;
///
/// fn differences<T: Real>(x: &[T]) -> Vec<T> {
///     x.windows(2).map(|w| (w[1] - w[0]).powi(2)).collect()
/// }
/// let backend = AutoSparse::new(AutoSymbolic::default())
///     .with_detector(FormulaSparsityDetector::default())
///     .with_coloring(SeparateColors);
/// let jac = jacobian(&|x: &[_]| differences(x), &backend, &[1.0, 2.0, 4.0])?;
/// assert_eq!(jac.entries().collect::<Vec<_>>(), [(0, 0, -2.0), (0, 1, 2.0), (1, 1, -4.0), (1, 2, 4.0)]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FormulaSparsityDetector {
    backend: AutoSymbolic,
}

impl FormulaSparsityDetector {
    /// The detector with the limits of this backend.
    pub fn of(backend: AutoSymbolic) -> FormulaSparsityDetector {
        FormulaSparsityDetector { backend }
    }

    /// The matrix of an order.
    fn rows<S: Scalar>(
        &self,
        f: &mut impl Flat<Recorded<S::Base>>,
        x: &[S],
        order: Order,
    ) -> Result<(CompressedRows, usize), Error> {
        let mut parameters = Vec::new();
        f.recordable().parameters(&mut parameters);
        let parameters: Vec<S::Base> = parameters.into_iter().map(S::Base::from_f64).collect();
        let point: Vec<S::Base> = x.iter().map(S::peek).collect();
        let mut recorder = Recorder::default();
        let recorded = recorder.record(&point, &parameters, limits(&self.backend), |x, _, y| f.call(x, y));
        if f.recordable().has_failed() {
            // The caller reports the failure.
            return Err(ErrorKind::ForeignNumber.into());
        }
        let graph: &Graph = recorded.map_err(recording_error)?;
        if let Some(place) = graph.guard_places().next() {
            return Err(ErrorKind::ValueDecides { place }.into());
        }
        let Entries { jacobian, hessian, .. } = entries(graph, self.backend.most_operations(), order)?;
        Ok((if order == Order::First { jacobian.0 } else { hessian.0 }, graph.inputs()))
    }
}

fn pattern((rows, columns): (CompressedRows, usize)) -> Result<Pattern, Error> {
    let entries = (0..rows.rows()).flat_map(|i| {
        let range = rows.starts[i] as usize..rows.starts[i + 1] as usize;
        rows.columns[range].iter().map(move |column| (i, *column as usize))
    });
    let pattern = Pattern::from_triplets(rows.rows(), columns, entries);
    pattern.map_err(|_| ErrorKind::PatternMemory { bytes: 4 * rows.columns.len() }.into())
}

impl SparsityDetector for FormulaSparsityDetector {
    const NAME: &'static str = "formula";
    type JacobianNum<B: Base> = Recorded<B>;
    type HessianNum<B: Base> = Recorded<B>;

    fn jacobian<S: Scalar>(&self, f: &mut impl Flat<Recorded<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
        pattern(self.rows(f, x, Order::First)?)
    }
    fn hessian<S: Scalar>(&self, f: &mut impl Flat<Recorded<S::Base>>, x: &[S]) -> Result<Pattern, Error> {
        pattern(self.rows(f, x, Order::Second)?)
    }
}

/// A colour for each column, or for each row where rows are coloured: the colouring of a backend that computes entries and needs no
/// products with seeds.
///
/// Choosing it takes no time. With a backend that does need products, it makes one for each column.
///
/// # Example
/// ```
/// use derivative_formula::SeparateColors;
/// use matrix_coloring::{Column, Pattern, coloring};
/// assert_eq!(coloring(&Pattern::banded(4, 1)?, Column, &SeparateColors)?.ncolors(), 4);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeparateColors;

impl ColoringAlgorithm for SeparateColors {
    fn colors(&self, pattern: &Pattern, problem: ProblemKind) -> Result<Colors, matrix_coloring::Error> {
        let separate = |count: usize| (0..count as u32).collect::<Vec<u32>>();
        Ok(match problem {
            ProblemKind::Row => Colors { columns: Vec::new(), rows: separate(pattern.nrows()) },
            ProblemKind::Bidirectional(_) => {
                Colors { columns: separate(pattern.ncols()), rows: vec![NEUTRAL; pattern.nrows()] }
            }
            ProblemKind::Column => Colors { columns: separate(pattern.ncols()), rows: Vec::new() },
            ProblemKind::Symmetric(_) => {
                // Each column has its own colour, so that every entry is recovered if its mirror image is in the pattern.
                ConstantColoring::columns(separate(pattern.ncols())).colors(pattern, problem)?
            }
        })
    }

    fn is_correct_by_construction(&self) -> bool {
        true
    }
}
