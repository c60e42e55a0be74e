//! The greedy algorithm and its options.

use crate::order::Order;

/// Whether rows and columns of a bicolouring share colours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Palette {
    /// Separate palettes, and a vertex whose entries are all covered already stays neutral. Fewest colours in most cases.
    #[default]
    Implicit,
    /// Separate palettes; every vertex gets a colour.
    Separate,
    /// One palette: star or acyclic colouring of the symmetric matrix `[0 Aᵀ; A 0]`, then split. Kept for comparison with
    /// SparseMatrixColorings.jl.
    Joint,
}

/// The greedy algorithm, for every problem.
///
/// The default tries a portfolio of orders suited to the problem, then recolours class by class (iterated greedy), stops as soon
/// as it reaches a lower bound, makes colours neutral that no entry needs, and for bidirectional problems also considers
/// colouring only columns or only rows. [`new`](GreedyColoring::new) and [`best_of`](GreedyColoring::best_of) use the given
/// orders only, without iteration or postprocessing.
///
/// # Example
/// ```
/// use matrix_coloring::{Column, GreedyColoring, Order, Pattern, coloring};
///
/// // Columns 0 and 1 meet in the last row, 2 and 3 in the first and third, 1 and 3 in the second.
/// let pattern = Pattern::from_triplets(4, 4, [(0, 2), (0, 3), (1, 1), (1, 3), (2, 2), (2, 3), (3, 0), (3, 1)])?;
/// let natural = GreedyColoring::new(Order::Natural);
/// assert_eq!(coloring(&pattern, Column, &natural)?.column_colors(), [0, 1, 0, 2]);
/// let both = GreedyColoring::best_of([Order::Natural, Order::LargestFirst]);
/// assert_eq!(coloring(&pattern, Column, &both)?.ncolors(), 2);
/// # Ok::<(), matrix_coloring::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GreedyColoring {
    /// The default portfolio of the problem if `None`.
    pub(crate) orders: Option<Vec<Order>>,
    /// Whether bidirectional problems consider plain column and row colouring, and then largest first.
    pub(crate) one_sided: bool,
    pub(crate) passes: usize,
    pub(crate) postprocess: bool,
    pub(crate) palette: Palette,
}

impl Default for GreedyColoring {
    fn default() -> GreedyColoring {
        GreedyColoring { orders: None, one_sided: true, passes: 5, postprocess: true, palette: Palette::default() }
    }
}

impl GreedyColoring {
    /// Greedy colouring in one order.
    pub fn new(order: Order) -> GreedyColoring {
        GreedyColoring::best_of([order])
    }

    /// Greedy colouring in each of the orders; the first result with the fewest colours is kept. Without any order, the
    /// natural one is used.
    pub fn best_of(orders: impl IntoIterator<Item = Order>) -> GreedyColoring {
        let mut orders: Vec<Order> = orders.into_iter().collect();
        if orders.is_empty() {
            orders.push(Order::Natural);
        }
        GreedyColoring {
            orders: Some(orders),
            one_sided: false,
            passes: 0,
            postprocess: false,
            palette: Palette::default(),
        }
    }

    /// Greedy colouring in natural order; for bidirectional problems the best of columns alone, rows alone, and both with largest
    /// first.
    ///
    /// Natural order visits all columns before any row, so alone it would never use a row colour where it could choose between
    /// columns and rows.
    ///
    /// # Example
    /// ```
    /// use matrix_coloring::{Bidirectional, Direct, GreedyColoring, Order, Pattern, coloring};
    ///
    /// let dense_row = Pattern::dense(1, 20)?;
    /// let fast = coloring(&dense_row, Bidirectional(Direct), &GreedyColoring::fast())?;
    /// assert_eq!((fast.ncolumn_colors(), fast.nrow_colors()), (0, 1));
    /// let natural = coloring(&dense_row, Bidirectional(Direct), &GreedyColoring::new(Order::Natural))?;
    /// assert_eq!((natural.ncolumn_colors(), natural.nrow_colors()), (20, 0));
    /// # Ok::<(), matrix_coloring::Error>(())
    /// ```
    pub fn fast() -> GreedyColoring {
        GreedyColoring { one_sided: true, ..GreedyColoring::new(Order::Natural) }
    }

    /// Adds passes of iterated greedy for column, row and symmetric problems: each recolours with the vertices sorted by colour
    /// class (classes reversed, shuffled, by size in turn) and keeps the result unless it has more colours, which
    /// can happen in symmetric problems only. Bicolourings are not iterated.
    pub fn iterated(mut self, passes: usize) -> GreedyColoring {
        self.passes = passes;
        self
    }

    /// Sets whether colours of symmetric and bidirectional colourings that no entry needs become neutral.
    pub fn postprocess(mut self, postprocess: bool) -> GreedyColoring {
        self.postprocess = postprocess;
        self
    }

    /// Chooses the palettes of bidirectional problems.
    pub fn palette(mut self, palette: Palette) -> GreedyColoring {
        self.palette = palette;
        self
    }
}
