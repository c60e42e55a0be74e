//! Sorting with little code for each type.
//!
//! Called by passes, which sort short lists of many types. The standard library compiles some 1,400 lines of intermediate code for
//! each type; here a type has an insertion sort, and long lists are sorted as numbers of their elements, which is compiled once.

use std::cmp::Ordering;

/// Lists up to this length are sorted by insertion.
const SHORT: usize = 24;

/// Sorts a list.
pub(crate) fn sort<T: Ord>(list: &mut [T]) {
    sort_by(list, T::cmp);
}

/// Sorts a list by a key; equal elements keep their order.
pub(crate) fn sort_by_key<T, K: Ord>(list: &mut [T], key: impl Fn(&T) -> K) {
    sort_by(list, |a, b| key(a).cmp(&key(b)));
}

/// Sorts a list by an order; equal elements keep theirs.
pub(crate) fn sort_by<T>(list: &mut [T], order: impl Fn(&T, &T) -> Ordering) {
    if list.len() > SHORT {
        if list.is_sorted_by(|a, b| order(a, b).is_le()) {
            return;
        }
        let mut sources = sorted_sources(list.len(), &|a, b| order(&list[a], &list[b]));
        move_from(&mut sources, &mut |a, b| list.swap(a, b));
        return;
    }
    for end in 1..list.len() {
        let mut at = end;
        while at > 0 && order(&list[at], &list[at - 1]).is_lt() {
            list.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// For each place of the sorted list, the place of its element.
fn sorted_sources(length: usize, order: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut sources: Vec<usize> = (0..length).collect();
    sources.sort_unstable_by(|a, b| order(*a, *b).then(a.cmp(b)));
    sources
}

/// Moves to each place the element of its source, cycle by cycle.
fn move_from(sources: &mut [usize], swap: &mut dyn FnMut(usize, usize)) {
    for start in 0..sources.len() {
        let mut at = start;
        loop {
            let source = std::mem::replace(&mut sources[at], at);
            if source == start {
                break;
            }
            swap(at, source);
            at = source;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_any_length_are_sorted_as_by_the_standard_library() {
        let mut state = 1_u32;
        for length in 0..200 {
            let list: Vec<(u32, usize)> = (0..length)
                .map(|i| {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 27, i)
                })
                .collect();
            let (mut found, mut expected) = (list.clone(), list.clone());
            sort_by_key(&mut found, |pair| pair.0);
            expected.sort_by_key(|pair| pair.0);
            assert_eq!(found, expected, "equal elements of {length} keep their order");
            let mut found = list;
            sort(&mut found);
            expected.sort();
            assert_eq!(found, expected);
        }
    }
}
