//! What is known of the numbers in a matrix that is to be filled.

use std::num::NonZeroU64;

/// Which program has written the constant entries that a matrix contains, if any.
///
/// Most entries of the Jacobian of a discretised equation do not depend on the point. An engine that knows which ones writes them once per
/// matrix: it leaves its number in the matrix, which every other access for writing removes. Equal matrices may have other ones, so all are
/// equal.
#[derive(Clone, Copy, Debug, Default)]
pub struct ConstantEntries(Option<NonZeroU64>);

impl ConstantEntries {
    /// Those of the program with this number, which no other program in the process has; `None` for a program that writes all entries
    /// each time.
    #[inline]
    pub fn of(program: Option<NonZeroU64>) -> Self {
        ConstantEntries(program)
    }

    /// Whether they are those of this program.
    #[inline]
    pub fn are_of(self, program: Option<NonZeroU64>) -> bool {
        self.0.is_some() && self.0 == program
    }

    /// Whether they are those of some program.
    #[inline]
    pub fn are_known(self) -> bool {
        self.0.is_some()
    }

    /// Removes the number, for a program that is about to write to the matrix.
    #[inline]
    pub fn take(&mut self) -> Self {
        std::mem::take(self)
    }
}

impl PartialEq for ConstantEntries {
    #[inline]
    fn eq(&self, _: &Self) -> bool {
        true
    }
}
