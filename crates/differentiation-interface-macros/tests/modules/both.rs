//! A module as it is written, and made generic.

/// Keeps the module as it is written, beside the one that the attribute makes generic: `plain::name` computes with `f64`.
macro_rules! both {
    ($(mod $name:ident { $($items:tt)* })*) => {
        mod plain {
            $(pub(crate) mod $name { $($items)* })*
        }
        $(
            #[differentiable(crate = "differentiation_interface_core")]
            pub mod $name { $($items)* }
        )*
    };
}
