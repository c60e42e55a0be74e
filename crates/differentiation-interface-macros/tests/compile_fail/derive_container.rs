// What `#[derive(Container)]` cannot read.
use differentiation_interface_core::Real;
use differentiation_interface_macros::Container;

#[derive(Clone, Debug, Container)]
#[container(crate = "differentiation_interface_core")]
struct WithoutNumbers {
    scale: f64,
}

#[derive(Clone, Debug, Container)]
#[container(crate = "differentiation_interface_core")]
struct WithBounds<T: Real> {
    scale: T,
}

#[derive(Clone, Debug, Container)]
#[container(crate = "differentiation_interface_core")]
struct WithBoundsBelow<T = f64>
where
    T: Real,
{
    scale: T,
}

#[derive(Clone, Debug, Container)]
#[container(crate = "differentiation_interface_core")]
struct WithPlainFields<T> {
    scale: T,
    steps: usize,
    #[constant]
    data: Vec<T>,
}

#[derive(Clone, Debug, Container)]
#[container(crate = "differentiation_interface_core")]
struct WithLifetimes<'a, T> {
    #[constant]
    name: &'a str,
    scale: T,
}

#[derive(Clone, Debug, Container)]
struct Unordered<T = f64> {
    rates: std::collections::HashMap<String, T>,
    table: Box<[T]>,
    shared: Option<std::rc::Rc<T>>,
    across_threads: std::sync::Arc<Vec<T>>,
    name: std::rc::Rc<str>,
}

#[derive(Clone, Copy, Debug, Container)]
#[repr(C, align(16))]
#[container(crate = "differentiation_interface_core")]
struct Aligned<T> {
    x: T,
}

#[derive(Clone, Copy, Debug, Container)]
#[repr(C, packed(4))]
#[container(crate = "differentiation_interface_core")]
struct Packed<T> {
    name: u8,
    x: T,
}

fn main() {}
