//! Colouring of sparse matrices for compressed Jacobians and Hessians.
