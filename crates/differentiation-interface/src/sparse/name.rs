//! Names of sparse backends in errors, composed at compile time from those of their dense parts.

use super::sides::{JacobianSides, Partition};
use differentiation_interface_core::backend::{Backend, SecondOrderBackend};
use differentiation_interface_core::rules::same_name;
use std::marker::PhantomData;

/// Longer names are replaced by `sparse`.
const LONGEST: usize = 96;

/// A name under construction.
struct Name {
    bytes: [u8; LONGEST],
    len: usize,
}

impl Name {
    const fn of(parts: &[&str]) -> Name {
        let mut name = Name { bytes: [0; LONGEST], len: 0 };
        let mut part = 0;
        while part < parts.len() {
            let bytes = parts[part].as_bytes();
            let mut i = 0;
            while i < bytes.len() {
                if name.len == LONGEST {
                    return Name::of(&["sparse"]);
                }
                name.bytes[name.len] = bytes[i];
                name.len += 1;
                i += 1;
            }
            part += 1;
        }
        name
    }

    const fn as_str(&'static self) -> &'static str {
        match std::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(name) => name,
            Err(_) => "sparse",
        }
    }
}

/// The name of a sparse Jacobian with the dense part `D`.
pub(super) struct JacobianName<D>(PhantomData<D>);

impl<D: JacobianSides> JacobianName<D> {
    const PARTS: &'static Name = &match D::PARTITION {
        Partition::Both => Name::of(&["sparse(", D::Forward::NAME, " and ", D::Reverse::NAME, ")"]),
        _ => Name::of(&["sparse(", D::Forward::NAME, ")"]),
    };
    /// `sparse(forward_diff)`, `sparse(forward_diff and reverse_diff)`.
    pub(super) const NAME: &'static str = Self::PARTS.as_str();
}

/// The name of a sparse Hessian with the dense part `D`.
pub(super) struct HessianName<D>(PhantomData<D>);

impl<D: SecondOrderBackend> HessianName<D> {
    const PARTS: &'static Name = &if same_name(D::NAME, D::Inner::NAME) {
        Name::of(&["sparse(", D::NAME, ")"])
    } else {
        Name::of(&["sparse(", D::Outer::NAME, " over ", D::Inner::NAME, ")"])
    };
    /// `sparse(forward_diff)`, `sparse(forward_diff over reverse_diff)`.
    pub(super) const NAME: &'static str = Self::PARTS.as_str();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::*;
    use crate::sparse::MixedMode;

    #[test]
    fn names_tell_the_dense_part() {
        assert_eq!(JacobianName::<AutoForwardDiff>::NAME, "sparse(forward_diff)");
        let mixed = JacobianName::<MixedMode<AutoForwardDiff, AutoReverseDiff>>::NAME;
        assert_eq!(mixed, "sparse(forward_diff and reverse_diff)");
        assert_eq!(HessianName::<AutoReverseDiff>::NAME, "sparse(reverse_diff)");
        let pair = HessianName::<SecondOrder<AutoForwardDiff, AutoReverseDiff>>::NAME;
        assert_eq!(pair, "sparse(forward_diff over reverse_diff)");
    }

    #[test]
    fn names_that_are_too_long_are_cut() {
        const LONG: &str =
            "a backend whose name is longer than any name of a backend should be, for whatever reason it has";
        const NAME: &Name = &Name::of(&["sparse(", LONG, ")"]);
        assert_eq!(NAME.as_str(), "sparse");
    }
}
