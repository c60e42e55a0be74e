//! The mode of one rank's part of a backend, which leads second order to the route of parts.
//!
//! Named by [`Part`](crate::Part); its entry in the table of modes is in `second_order`.

use differentiation_interface::backend::{Direction, Mode};
use std::marker::PhantomData;

/// The mode of a part of a backend with the mode `M`.
#[derive(Clone, Copy, Debug)]
pub struct Parted<M>(PhantomData<M>);

impl<M: Mode> Mode for Parted<M> {
    const NAME: &'static str = M::NAME;
    const DIRECTION: Direction = M::DIRECTION;
}
