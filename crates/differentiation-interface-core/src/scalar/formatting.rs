//! Numbers as text: [`Display`], [`LowerExp`] and [`Debug`] of [`Num`].
//!
//! User code may branch on the text, so formatting observes the value, as [`Scalar::primal`](super::Scalar::primal) does:
//! recordings guard it and numbers without a value refuse it. `std` calls these methods through pointers, so the line in the
//! user's code is not known; [errors](crate::error) recognise the place by the name of this file.

use super::{Core, Num};
use std::fmt::{self, Debug, Display, LowerExp};

impl<C: Core> Display for Num<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.0.observe(), f)
    }
}

impl<C: Core> LowerExp for Num<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        LowerExp::fmt(&self.0.observe(), f)
    }
}

/// The engine's part, which shows the value.
impl<C: Core> Debug for Num<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.observe();
        self.0.fmt(f)
    }
}
