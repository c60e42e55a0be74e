//! Points where values of nalgebra decide: rules of our own.
