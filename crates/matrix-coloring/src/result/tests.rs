//! Facts about results.
