//! The attribute [`macro@differentiable`] and the macro [`differentiable_fn!`] of `differentiation-interface`.
//!
//! Both make an *object* of a function: a unit struct that implements the function traits of
//! `differentiation-interface-core` for every number type, so that one value serves every backend. The facade re-exports
//! both macros; depend on this crate only through it.
//!
//! The work is done by plain functions over `proc_macro2`, in `expand`.

mod activity;
mod container;
mod custom_rule;
mod errors;
mod expand;
mod module;
mod number;
mod object;
mod options;
mod shape;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a function differentiable by every backend: keeps the function, makes it generic if it is written with `f64`, and
/// adds a unit struct in `CamelCase` that represents it.
///
/// ```
/// use differentiation_interface_core::Function;
/// use differentiation_interface_macros::differentiable;
///
/// #[differentiable(crate = "differentiation_interface_core")]
/// fn norm2(x: &[f64]) -> f64 {
///     x.iter().map(|v| v * v).sum()
/// }
///
/// assert_eq!(norm2(&[3.0, 4.0]), 25.0);
/// assert_eq!(Norm2.call(&[3.0, 4.0][..]), 25.0);
/// ```
///
/// The function has become `fn norm2<T: Real>(x: &[T]) -> T`, which still accepts plain numbers. The object `Norm2`
/// is `Clone + Copy + Debug + Default`, has the visibility of the function, and is passed to operators:
/// `gradient(&Norm2, &backend, &x)`. (The examples here name the crate of the traits because they use core alone; with
/// the facade write `#[differentiable]`.)
///
/// # Options
/// `#[differentiable(Energy)]` chooses the name of the object. `#[differentiable(nalgebra)]` is for code with vectors, matrices and rotations of `nalgebra`: numbers then
/// implement `algebra::NalgebraReal`, and plain numbers and vectors beside active vectors become active too; `ndarray` does the same for its arrays. `#[differentiable(crate = "path")]` gives the path of the traits,
/// if they are not in `::differentiation_interface`. They can be combined.
///
/// # Shapes
/// | function | trait of the object |
/// |---|---|
/// | `fn f(x: &[f64]) -> f64` | `Function<[T], Output = T>` |
/// | `fn f(x: &[f64; N]) -> [f64; M]` (also `x: [f64; N]`) | `Function<[T; N], Output = [T; M]>` |
/// | `fn f(x: f64) -> Vec<f64>` | `Function<T, Output = Vec<T>>` |
/// | `fn f(x: &Vec<f64>) -> ..` | as for `&[f64]`, which replaces the argument's type |
/// | `fn f(x: &Matrix<f64>) -> ..` | `Function<Matrix<T>, ..>` |
/// | `fn f(y: &mut [f64], x: &[f64])` | `FunctionInPlace<T, [T]>` |
/// | any of these with contexts | `FunctionWith<.., (Const<..>, Work<..>)>`, `FunctionInPlaceWith<..>` |
///
/// The output may be any owned type made of `f64`: tuples, `Vec<Vec<f64>>`, `[[f64; 2]; 2]`.
///
/// # Contexts
/// Only the first argument is differentiated (after the output, if the function writes it). Every further argument is marked:
/// - `#[constant]` is data of any type and keeps it. `&K` becomes the context `Const<K>`, a value of `Copy` type `K` too.
/// - `#[parameter]` is numbers without derivatives, `&P` or a number; the call passes `Parameter(&p)`. It becomes `Const<P>` with `T` in
///   place of `f64`; `&[f64]` becomes `Const<Vec<T>>`. A compiled recording serves all values of a parameter.
/// - `#[cache]` is work memory, `&mut W`, all zero on entry when an operator calls the function. It becomes `Work<W>` with `T` in place of `f64`;
///   `&mut [f64]` becomes `Work<Vec<T>>`.
///
/// ```
/// use differentiation_interface_core::FunctionWith;
/// use differentiation_interface_macros::differentiable;
///
/// #[differentiable(crate = "differentiation_interface_core")]
/// fn misfit(x: &[f64], #[constant] scale: f64, #[constant] data: &[f64], #[cache] w: &mut Vec<f64>) -> f64 {
///     w.clear();
///     w.extend(x.iter().zip(data).map(|(v, d)| scale * (v - d)));
///     w.iter().map(|r| r * r).sum()
/// }
///
/// let y = Misfit.call_with(&[1.0, 2.0][..], (&10.0, &[1.0, 1.0][..], &mut vec![]));
/// assert_eq!(y, 100.0);
/// ```
///
/// # Functions that are generic already
/// A function with one type parameter keeps its bounds and its body, and the object is made for the same bounds, such as
/// `T: Real` or `T: Float`. Use this form for code that the rewriting below refuses. The macro does not analyse the body: `to_f64`
/// of an active number returns `None`, because the derivative would be lost.
///
/// ```
/// use differentiation_interface_core::{Function, Real};
/// use differentiation_interface_macros::differentiable;
///
/// #[differentiable(crate = "differentiation_interface_core")]
/// fn rosenbrock<T: Real>(x: &[T]) -> T {
///     x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum()
/// }
///
/// assert_eq!(Rosenbrock.call(&[0.5, 2.0][..]), 306.5);
/// ```
///
/// # How plain code is rewritten
/// Arguments are *active*; literals, constants, integers and `#[constant]` data are *plain*. What is computed from an active
/// number is active, and so is a variable or container into which an active number goes. Active numbers get the type `T`, all
/// others stay `f64`, for which no derivatives are computed:
///
/// ```
/// # use differentiation_interface_core::Real;
/// fn before(x: &[f64]) -> f64 {
///     let h = 0.5;                             // plain: only ever computed from literals
///     let mut s = 0.0;                         // active: `v` goes into it
///     for v in x {
///         s += h * v.powf(2.0);
///     }
///     if s > 1e6 { 1e6 } else { s.max(h) }
/// }
///
/// fn after<T: Real>(x: &[T]) -> T {
///     let h = 0.5;
///     let mut s = T::constant(0.0);
///     for v in x {
///         s += h * v.powc(2.0);
///     }
///     if s > 1e6 { T::constant(1e6) } else { s.max(T::constant(h)) }
/// }
/// # assert_eq!(before(&[3.0]), after(&[3.0]));
/// ```
///
/// A cast `as f64` of a number that is active already is dropped; one of an integer stays. A constant exponent becomes `powc`,
/// whose derivative is correct at zero and at negative numbers. This covers annotations, turbofish, `f64::max(a, b)`, `f64::sqrt`
/// as a value, `f64::consts`, `as f64` of integers, `vec![..]` and arrays, tuples, closures, iterator chains, loops, branches,
/// `match`, early return, and functions inside the function, which become generic where they meet active numbers. `println!`,
/// `format!`, `assert!` and similar macros get the values.
///
/// A macro does not know types, so it follows the flow of active numbers by the names of methods and standard functions. Where that
/// is not enough, the compiler reports a type error. A wrong guess about the numbers of a value cannot cause a wrong derivative, because `T`
/// does not convert to `f64` implicitly. Which method a call means is left to the compiler, with one exception: `rule.order()` of a type without numbers whose trait has numbers
/// names the trait, and the expanded code does not compile if the type has another method of the name, or if pointers implement the trait and the receiver is one. Constants are lifted
/// as copies, never where the code writes to them. A method of your own trait for `f64` that is named like one of the numbers (`scale`, `logistic`, `softplus`, `erf`) is refused as
/// ambiguous; give it another name. `inv` is 1/x, as in `num_traits`. Functions called with active numbers must be generic or `#[differentiable]` themselves; the error names the
/// function that is not.
///
/// # Modules
/// A code base of several functions and types is put into one module with the attribute: its functions, structs, enums, traits,
/// `impl` blocks and type aliases become generic together, and calls between them just work.
///
/// ```
/// use differentiation_interface_core::Function;
/// use differentiation_interface_macros::differentiable;
///
/// #[differentiable(crate = "differentiation_interface_core")]
/// mod model {
///     pub struct Spring {
///         stiffness: f64,
///         rest: f64,
///     }
///     impl Spring {
///         fn energy(&self, at: f64) -> f64 {
///             0.5 * self.stiffness * (at - self.rest).powi(2)
///         }
///     }
///     fn damping(v: f64, c: f64) -> f64 {
///         if v > 0.0 { c * v } else { 0.0 }
///     }
///     pub fn energy(x: &[f64]) -> f64 {
///         let spring = Spring { stiffness: x[1], rest: 0.5 };
///         spring.energy(x[0]) + damping(x[0], 3.0)
///     }
/// }
///
/// assert_eq!(model::energy(&[1.5, 2.0]), 1.0 + 4.5);
/// assert_eq!(model::Energy.call(&[1.5, 2.0][..]), 5.5);
/// ```
///
/// Which numbers are active follows one rule: **the arguments of the `pub` functions are active, and so is every number into which an
/// active one goes**, through calls, fields and variables of the module. Precisely:
/// - *Functions*: the arguments of every `pub fn` are active, unless marked `#[constant]`. Other functions, and methods, get
///   `T` for those arguments and results into which active numbers go in some call. Each call decides on its own whether it
///   is a call with active numbers: a helper can be called with data too, and then computes with `f64`. Where an active argument gets
///   constants (a `const`, `#[constant]` data) beside active numbers, they are lifted: a number where it is used, a slice, vector, array
///   or struct as a copy that the call makes. (Without any
///   `pub fn` the arguments of `pub` methods are active, and without these all arguments.)
/// - *Structs and enums* get a parameter, `struct Spring<T = f64>`, if active numbers go into a value of them. All fields with
///   `f64` then have the type `T`, except those marked `#[constant]`. Each value is active or plain as a whole:
///   `Spring` without the parameter is `Spring<f64>`, the type of data. A struct that only ever holds data stays as it is.
/// - *Traits* with `f64` in their methods get a parameter in the same way, `trait Potential<T = f64>`, also where they are implemented for `f64`,
///   slices, vectors, tuples, closures or boxes; traits of other crates, such as `Add`, are implemented with the numbers of the type.
/// - *Closures and strategies* as type parameters (`struct Newton<F: Fn(f64) -> f64>`, `struct System<L: Law>`) have the numbers of the struct.
///   One without numbers of its own keeps its parameters, and its methods get `T`.
/// - *Constants*, statics and literals stay `f64`, and are converted where they go into an active place; constants of a type, `Vector::ZERO`, are
///   those of `Vector<f64>`. A struct in the error of a `Result` is data.
/// - *Text* may be made from active numbers, but no number is read out of such text.
///
/// Each `pub fn` that an operator can take (a point, every further argument marked) gets an object as above, unless an item of the module
/// has its name; `#[differentiable(Name)]` on a function inside chooses another, and makes an object of a private one. The
/// functions themselves can be passed as well: `gradient(&model::energy, ..)`. Functions with type parameters and no `f64` stay as they are, and
/// so do modules inside. Types of another module with the attribute are named there with their parameter, `Spring<f64>`.
///
/// # `impl` blocks
/// On an `impl` block of a type that is declared elsewhere the attribute makes the methods generic: their arguments are active, and the
/// fields of `self` are data. `gradient(&|x: &[_]| model.energy(x), ..)` differentiates such a method.
///
/// # What is refused
/// All mistakes of a function are reported together, each at its place, with what to write instead:
/// - casts of active numbers, `as usize`, `as i64`, `as f32`, and `to_bits`, `to_f64`, `parse` of their text: write
///   `x.primal() as usize` to drop the derivative on purpose;
/// - methods that active numbers do not have: `midpoint`, `round_ties_even`, `next_up`, `next_down`; and `f64::from_bits`;
/// - active numbers written into `#[constant]` data, a `const` or a `static`;
/// - questions about the type of a value with active numbers, which would be answered for `f64`: `is`, `downcast_ref`, `TypeId`, `size_of_val`;
/// - matching active numbers against patterns such as `0.0 =>`;
/// - unknown macros that contain `f64` numbers; structs and other items with `f64` inside the function;
/// - `unsafe`, `async`, `const fn`, other ABIs, raw pointers;
/// - active numbers behind a `&'static` reference, which is that of a table;
/// - in a function with an object: a further argument without a mark, more than four contexts, borrowed outputs, points without `f64`, `impl Trait`
///   arguments, several type parameters, and a `const` parameter that no argument tells. Other functions of a module may have them.
#[proc_macro_attribute]
pub fn differentiable(options: TokenStream, item: TokenStream) -> TokenStream {
    expand::attribute(options.into(), item.into()).into()
}

/// Makes objects of generic functions that are defined elsewhere, often in another crate.
///
/// Each line is a signature as for [`macro@differentiable`], with the name of the object, followed by the path of the function:
///
/// ```
/// use differentiation_interface_core::Function;
/// use differentiation_interface_macros::differentiable_fn;
/// use num_traits::{Float, FromPrimitive};
/// use std::iter::Sum;
///
/// differentiable_fn! {
///     crate = "differentiation_interface_core"; // not needed with the facade
///
///     /// Rosenbrock's function, with the bounds it has there.
///     pub fn Rosen<T: Float + FromPrimitive + Sum>(x: &[T]) -> T = argmin_testfunctions::rosenbrock;
///     fn Ackley(x: &[f64]) -> f64 = argmin_testfunctions::ackley;
/// }
///
/// assert_eq!(Rosen.call(&[0.5, 2.0][..]), 306.5);
/// ```
///
/// With `f64` in the signature the object is made for every `T: Real`, which has nearly all traits that generic numeric code
/// needs. Write the bounds of the function to support other number types too. Points, outputs, `#[constant]` and `#[cache]`
/// are those of the attribute.
#[proc_macro]
pub fn differentiable_fn(input: TokenStream) -> TokenStream {
    expand::lifted(input.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Gives a plain function its own derivative: it becomes a function over any scalar, which every backend differentiates by the
/// derivative given here, not through its code. For opaque or foreign code, tables, solvers, implicit functions.
///
/// ```
/// use differentiation_interface_core::Scalar;
/// use differentiation_interface_macros::custom_rule;
///
/// #[custom_rule(pushforward = root_pushforward, crate = "differentiation_interface_core")]
/// fn root(x: &[f64]) -> f64 {
///     x[0].sqrt() // any code, a call into a library for instance
/// }
///
/// // dy = dx / (2y), over any scalar, so that second derivatives work as well
/// fn root_pushforward<S: Scalar<Base = f64>>(_x: &[S], y: &[S], dx: &[S], dy: &mut [S]) {
///     dy[0] = dx[0] / (y[0] + y[0]);
/// }
///
/// assert_eq!(root(&[9.0]), 3.0);
/// ```
///
/// With J the Jacobian at `x` and `y` the value there,
/// - `pushforward = path` names a function `(x, y, dx, dy)` that fills dy = J dx;
/// - `pullback = path` names a function `(x, y, dy, dx)` that fills dx = Jᵀ dy.
///
/// One of them is enough; the other is derived from it. `plain` says that they are written over `f64`; a derivative of the
/// derivative is then an error. Further arguments are marked `#[constant]` (owned types or references to types that are
/// `ToOwned`); the derivative functions get them as references after their own arguments.
///
/// The function takes `&[f64]` and returns `f64` or `Vec<f64>`; it becomes `fn root<T>(x: &[T]) -> T`, and an object `Root` is
/// added as by [`macro@differentiable`]. Without the facade, `crate = "path"` gives the path of the traits.
#[proc_macro_attribute]
pub fn custom_rule(options: TokenStream, item: TokenStream) -> TokenStream {
    custom_rule::attribute(options.into(), item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}

/// Makes a struct or enum a container of numbers: a point of operators, an output, a seed and a result.
///
/// The type is generic over its numbers, and its fields are containers: numbers `T`, arrays, `Vec`s, `Option`s and tuples of containers,
/// other structs with this derive, vectors and matrices of other crates. A field marked `#[constant]` is not differentiated.
///
/// ```
/// use differentiation_interface_core::container::Container as _;
/// use differentiation_interface_macros::Container;
///
/// #[derive(Clone, Debug, Container)]
/// #[container(crate = "differentiation_interface_core")]
/// struct Layer<T = f64> {
///     weights: Vec<T>,
///     bias: T,
///     #[constant]
///     name: String,
/// }
///
/// let layer = Layer { weights: vec![1.0, 2.0], bias: 3.0, name: "first".into() };
/// let mut count = 0;
/// layer.pieces(&mut |piece| count += piece.len());
/// assert_eq!((count, layer.with::<f32>().weights), (3, vec![0.0_f32; 2]));
/// ```
///
/// The type needs `Clone` and `Debug`. It has one type parameter, without bounds and often with the default `f64`, and any const parameters.
/// An enum is differentiated as the variant that it is.
#[proc_macro_derive(Container, attributes(container, constant))]
pub fn container(item: TokenStream) -> TokenStream {
    let expanded = syn::parse(item).and_then(|item| container::expand(&item));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
