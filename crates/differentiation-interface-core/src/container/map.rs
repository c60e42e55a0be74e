//! Maps from names to containers.
//!
//! Called as any [`Container`] is.

use super::{Container, Layout, Object};
use crate::recordings::{Words, Wordwise};
use crate::scalar::Scalar;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What names the entries of a map that is a container: anything that a `BTreeMap` takes as a key, can be copied, and is sent between threads.
///
/// Keys that are text, characters, integers of up to 64 bits or `bool` belong to the shape: a buffer with others is refused. With keys of another type a
/// recorded function runs in every call, and the keys of a buffer are not compared.
pub trait Key: Ord + Clone + Debug + Send + 'static {}
impl<K: Ord + Clone + Debug + Send + 'static> Key for K {}

/// The key as plain data, if it is.
fn plain<K: Key>(key: &K) -> Option<&dyn Wordwise> {
    let key: &dyn Any = key;
    macro_rules! one_of {
        ($($plain:ty),*) => {
            None$(.or_else(|| key.downcast_ref::<$plain>().map(|plain| plain as &dyn Wordwise)))*
        };
    }
    one_of!(String, &'static str, usize, u64, u32, u16, u8, isize, i64, i32, i16, i8, char, bool)
}

/// The values in the order of their keys. Blocks of results are named by the keys: `block("[\"rate\"]", ..)`.
impl<K: Key, C: Container> Container for BTreeMap<K, C> {
    type Scalar = C::Scalar;
    type With<N: Scalar> = BTreeMap<K, C::With<N>>;
    const OPAQUE: bool = true;
    fn with<N: Scalar>(&self) -> Self::With<N> {
        self.iter().map(|(key, container)| (key.clone(), container.with::<N>())).collect()
    }
    fn fit<N: Scalar>(&self, object: &mut Self::With<N>) {
        if !self.keys().eq(object.keys()) {
            *object = self.with::<N>();
            return;
        }
        for (container, object) in self.values().zip(object.values_mut()) {
            container.fit::<N>(object);
        }
    }
    #[inline]
    fn lengths(&self, words: &mut Words<'_>) -> bool {
        // The number first, so that no key is taken for one.
        words.length(self.len())
            && self.keys().all(|key| plain(key).is_none_or(|key| key.read(words)))
            && self.values().all(|container| container.lengths(words))
    }
    fn constants(&self, words: &mut Words<'_>) -> bool {
        self.keys().all(|key| plain(key).is_some()) && self.values().all(|container| container.constants(words))
    }
    fn layout(&self, layout: &mut Layout) {
        for (key, container) in self {
            layout.part(&format!("[{key:?}]"), |layout| container.layout(layout));
        }
    }
    #[inline]
    fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [C::Scalar])) {
        self.values().for_each(|container| container.pieces(visit));
    }
}

impl<K: Key, C: Object> Object for BTreeMap<K, C> {
    #[inline]
    fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [C::Scalar])) {
        self.values_mut().for_each(|object| object.pieces_mut(visit));
    }
}

crate::whole! { [K: Key, C: Object] BTreeMap<K, C>; }
