//! Maps from names to containers.

use super::{Container, Layout, Object};
use crate::recordings::{Words, Wordwise};
use crate::scalar::Scalar;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;

/// What names the entries of a map that is a container: anything that a `BTreeMap` takes as a key, can be copied, and is sent between threads.
///
/// Keys that are text, characters, integers or `bool` belong to the shape: a buffer with others is refused. With other keys a recorded function runs in
/// every call.
pub trait Key: Ord + Clone + Debug + Send + 'static {}
impl<K: Ord + Clone + Debug + Send + 'static> Key for K {}

/// Passes a key to `words`; returns whether it is equal to the known one, `None` if it is no plain data.
fn words_of<K: Key>(key: &K, words: &mut Words<'_>) -> Option<bool> {
    let key: &dyn Any = key;
    macro_rules! plain {
        ($($plain:ty),*) => {
            $(if let Some(plain) = key.downcast_ref::<$plain>() {
                return Some(plain.read(words));
            })*
        };
    }
    plain!(String, usize, u64, u32, u16, u8, isize, i64, i32, i16, i8, char, bool);
    key.downcast_ref::<&'static str>().map(|text| text.read(words))
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
        let is_equal = |key| words_of(key, words).unwrap_or(true);
        let keys_are_equal = self.keys().all(is_equal);
        keys_are_equal && words.length(self.len()) && self.values().all(|container| container.lengths(words))
    }
    fn constants(&self, words: &mut Words<'_>) -> bool {
        let has_plain_keys = self.keys().next().is_none_or(|key| words_of(key, &mut Words::Fold(&mut 0)).is_some());
        has_plain_keys && self.values().all(|container| container.constants(words))
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
