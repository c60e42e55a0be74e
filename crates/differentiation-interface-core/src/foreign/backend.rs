//! The backend of forward mode by a foreign number with several tangents.
//!
//! Used by adapters, whose backends differ in their name and number alone.

/// Makes a backend of forward mode: the type, with `N` tangents in a pass, its constructors, and all that operators need, from its name in errors
/// and a number with `N` tangents that implements [`Tangents`](crate::foreign::Tangents).
///
/// Second order is by `SecondOrder(backend, inner)`; as the inner backend, or paired with itself, it does not compile, because it computes with
/// plain numbers.
#[macro_export]
macro_rules! forward_backend {
    ($(#[$attribute:meta])* $Backend:ident, $name:literal, $Number:ident) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub struct $Backend<const N: usize = 8>(());

        impl<const N: usize> $Backend<N> {
            /// The backend with `N` tangents in a pass, at least one.
            pub const fn new() -> Self {
                const { assert!(N > 0, "a pass propagates at least one tangent") };
                $Backend(())
            }
        }

        impl Default for $Backend {
            fn default() -> Self {
                Self::new()
            }
        }

        const _: () = {
            use $crate::backend::{
                Backend, Forward, Lane, Lanes, Lift, Native, PushforwardPrimitive, Rows, Seeds, ViaPushforward,
            };
            use $crate::error::Error;
            use $crate::evaluate::Flat;
            use $crate::foreign::{ForeignNum, ForwardState, Plain};
            use $crate::scalar::{Num, Scalar};

            impl<const N: usize> Backend for $Backend<N> {
                const NAME: &'static str = $name;
                const NESTS: bool = false;
                type Lanes = Lane<N>;
                type Num<S: Scalar, L: Lanes> = ForeignNum<$Number<N>, S>;
                type Mode = Forward;
                type Pushforward = Native;
                type Pullback = ViaPushforward;
                type Derivative = ViaPushforward;
                type Gradient = ViaPushforward;
                type Jacobian = ViaPushforward;

                #[cfg_attr(not(debug_assertions), inline(always))]
                fn inject<S: Scalar, L: Lanes>(value: S) -> ForeignNum<$Number<N>, S> {
                    Num(Plain::inject(value))
                }
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn project<S: Scalar, L: Lanes>(number: &ForeignNum<$Number<N>, S>) -> S {
                    number.0.project()
                }
            }

            impl<const N: usize, S: Scalar> Lift<S, ForeignNum<$Number<N>, S>> for $Backend<N> {
                #[cfg_attr(not(debug_assertions), inline(always))]
                fn lift(value: S) -> ForeignNum<$Number<N>, S> {
                    Num(Plain::inject(value))
                }
            }

            impl<const N: usize> PushforwardPrimitive for $Backend<N> {
                type PushforwardState<S: Scalar, L: Lanes> = ForwardState<$Number<N>, S>;

                fn pushforward_state<S: Scalar, L: Lanes>(
                    &self,
                    _: usize,
                    _: usize,
                ) -> Result<ForwardState<$Number<N>, S>, Error> {
                    Ok(ForwardState::default())
                }
                fn hold<S: Scalar, L: Lanes, F: Flat<ForeignNum<$Number<N>, S>>>(
                    &self,
                    state: &mut ForwardState<$Number<N>, S>,
                    f: &mut F,
                    x: &[S],
                    y: &mut Vec<S>,
                ) -> Result<(), Error> {
                    state.hold(f, x, y)
                }
                #[inline]
                fn pushforward<S: Scalar, L: Lanes, F: Flat<ForeignNum<$Number<N>, S>>>(
                    &self,
                    state: &mut ForwardState<$Number<N>, S>,
                    f: &mut F,
                    x: &[S],
                    seeds: Seeds<'_, S>,
                    y: Option<&mut Vec<S>>,
                    rows: Rows<'_, S>,
                ) -> Result<(), Error> {
                    state.pushforward(f, x, seeds, y, rows)
                }
                fn pushforward_held<S: Scalar, L: Lanes, F: Flat<ForeignNum<$Number<N>, S>>>(
                    &self,
                    state: &mut ForwardState<$Number<N>, S>,
                    f: &mut F,
                    seeds: Seeds<'_, S>,
                    rows: Rows<'_, S>,
                ) -> Result<(), Error> {
                    state.pushforward_held(f, seeds, rows)
                }
            }
        };
    };
}
