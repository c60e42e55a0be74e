//! Numbers that lie one after the other though several fields or elements hold them: a struct of numbers, a vector of such structs, complex
//! numbers. They are read and written where they lie, and flat numbers are shown as such an object, without a copy.
//!
//! Called by the default methods of [`Container`](super::Container) and [`Object`](super::Object) and by [`Whole`](super::Whole), with functions
//! that visit the pieces of an owner. The unsafe code of containers is here: with copies in each call a gradient by machine code at 500 structs
//! of two numbers took 3.4 times as long as at a slice.
//!
//! # Invariant
//! No owner is trusted to be right. A visit shows where numbers lie: a piece that begins inside the memory of the owner, which is borrowed, is a borrow of
//! that memory, so there are valid numbers there. What is made covers pieces that a visit has shown, and no other byte; it is
//! made from a pointer to the owner, which may be used for all of its memory, and lives as long as the borrow of it.

use std::ptr;

/// Where the numbers lie that a visit shows.
pub(super) struct Run<S> {
    start: *const S,
    count: usize,
    pieces: usize,
    /// Whether each piece begins where the one before it ends.
    is_joined: bool,
}

impl<S> Run<S> {
    const NONE: Run<S> = Run { start: ptr::null(), count: 0, pieces: 0, is_joined: true };

    #[inline(always)]
    fn add(&mut self, piece: &[S]) {
        if piece.is_empty() {
            return;
        }
        if self.pieces == 0 {
            self.start = piece.as_ptr();
        }
        self.is_joined = self.is_joined && ptr::eq(self.start.wrapping_add(self.count), piece.as_ptr());
        self.count += piece.len();
        self.pieces += 1;
    }

    /// The first byte of the memory of an owner of `bytes` bytes that the numbers begin at, if they lie in it one after the other.
    #[inline(always)]
    fn offset(&self, memory: *const u8, bytes: usize) -> Option<usize> {
        let offset = self.start.addr().wrapping_sub(memory.addr());
        let length = size_of::<S>() * self.count;
        (self.is_joined && offset <= bytes && length <= bytes - offset).then_some(offset)
    }

    /// Whether the numbers are all that this memory holds.
    #[inline(always)]
    fn fills(&self, memory: *const u8, bytes: usize) -> bool {
        let has_size = size_of::<S>() > 0 && self.count > 0;
        has_size && self.offset(memory, bytes) == Some(0) && size_of::<S>() * self.count == bytes
    }
}

/// A visit of pieces.
pub(super) struct Visit<'a, S> {
    run: Run<S>,
    last: &'a [S],
}

impl<'a, S> Visit<'a, S> {
    #[inline(always)]
    fn of<W: ?Sized>(owner: &'a W, visit: impl FnOnce(&'a W, &mut Self)) -> Self {
        let mut shown = Visit { run: Run::NONE, last: &[] };
        visit(owner, &mut shown);
        shown
    }

    /// Shows a piece.
    #[inline(always)]
    pub(super) fn add(&mut self, piece: &'a [S]) {
        self.run.add(piece);
        if !piece.is_empty() {
            self.last = piece;
        }
    }
}

/// A visit of pieces for writing.
pub(super) struct VisitMut<'a, S> {
    run: Run<S>,
    last: &'a mut [S],
}

impl<'a, S> VisitMut<'a, S> {
    #[inline(always)]
    fn of<W>(owner: &'a mut W, visit: impl FnOnce(&'a mut W, &mut Self)) -> Self {
        let mut shown = VisitMut { run: Run::NONE, last: &mut [] };
        visit(owner, &mut shown);
        shown
    }

    /// Shows a piece.
    #[inline(always)]
    pub(super) fn add(&mut self, piece: &'a mut [S]) {
        self.run.add(piece);
        if !piece.is_empty() {
            self.last = piece;
        }
    }
}

/// Whether an owner consists of its numbers, in their order, and of nothing else.
#[inline(always)]
fn consists_of_numbers<'a, W, S: 'a>(owner: &'a W, visit: impl FnOnce(&'a W, &mut Visit<'a, S>)) -> bool {
    Visit::of(owner, visit).run.fills(ptr::from_ref(owner).cast(), size_of::<W>())
}

/// The same by the visit that may write.
#[inline(always)]
fn consists_of_numbers_mut<'a, W, S: 'a>(
    owner: &'a mut W,
    visit: impl FnOnce(&'a mut W, &mut VisitMut<'a, S>),
) -> bool {
    let memory = ptr::from_ref(owner).cast();
    VisitMut::of(owner, visit).run.fills(memory, size_of::<W>())
}

/// All numbers of an owner, if they lie one after the other.
#[expect(unsafe_code, reason = "the numbers were seen in the memory of the owner, one after the other")]
#[inline(always)]
pub(super) fn piece<'a, W: ?Sized, S>(owner: &'a W, visit: impl FnOnce(&'a W, &mut Visit<'a, S>)) -> Option<&'a [S]> {
    let Visit { run, last } = Visit::of(owner, visit);
    if run.pieces <= 1 {
        return Some(last);
    }
    let memory = ptr::from_ref(owner).cast::<u8>();
    let offset = run.offset(memory, size_of_val(owner))?;
    // SAFETY: the pieces of the visit lie from `offset` on, within the memory of `owner`, without gaps; they are aligned, and borrowed as long as
    // `owner` is.
    Some(unsafe { std::slice::from_raw_parts(memory.add(offset).cast(), run.count) })
}

/// All numbers of an owner for writing, if they lie one after the other.
#[expect(unsafe_code, reason = "the numbers were seen in the memory of the owner, one after the other")]
#[inline(always)]
pub(super) fn piece_mut<'a, W, S>(
    owner: &'a mut W,
    visit: impl FnOnce(&'a mut W, &mut VisitMut<'a, S>),
) -> Option<&'a mut [S]> {
    let owner = ptr::from_mut(owner);
    // SAFETY: the pointer stands for the borrow that this function was given. `last`, a part of it, is not used where another part is made.
    let VisitMut { run, last } = VisitMut::of(unsafe { &mut *owner }, visit);
    if run.pieces <= 1 {
        return Some(last);
    }
    let memory = owner.cast::<u8>();
    let offset = run.offset(memory, size_of::<W>())?;
    // SAFETY: as in `piece`; the visit gave these numbers for writing and has ended.
    Some(unsafe { std::slice::from_raw_parts_mut(memory.add(offset).cast(), run.count) })
}

/// The numbers of several owners that consist of numbers and of nothing else.
#[expect(unsafe_code, reason = "each owner was seen to be numbers without gaps, and so is the slice")]
#[inline(always)]
pub(super) fn all<'a, C, S>(owners: &'a [C], visit: impl Fn(&'a C, &mut Visit<'a, S>)) -> Option<&'a [S]> {
    if owners.is_empty() || !owners.iter().all(|owner| consists_of_numbers(owner, &visit)) {
        return None;
    }
    // SAFETY: every byte of every owner is part of a number, and the first number begins where the first owner does, so it is aligned.
    Some(unsafe { std::slice::from_raw_parts(owners.as_ptr().cast(), size_of_val(owners) / size_of::<S>()) })
}

/// The numbers of several owners for writing, if they consist of numbers and of nothing else; else the owners.
#[expect(unsafe_code, reason = "each owner was seen to be numbers without gaps, and so is the slice")]
#[inline(always)]
pub(super) fn all_mut<C, S>(
    owners: &mut [C],
    visit: impl for<'v> Fn(&'v mut C, &mut VisitMut<'v, S>),
) -> Result<&mut [S], &mut [C]> {
    if owners.is_empty() || !owners.iter_mut().all(|owner| consists_of_numbers_mut(owner, &visit)) {
        return Err(owners);
    }
    let count = size_of_val(owners) / size_of::<S>();
    // SAFETY: as in `all`; the visits gave these numbers for writing and have ended.
    Ok(unsafe { std::slice::from_raw_parts_mut(owners.as_mut_ptr().cast(), count) })
}

/// Flat numbers as an object that consists of numbers as `like` does.
#[expect(unsafe_code, reason = "a type that was seen to consist of numbers has the layout of an array of them")]
#[inline(always)]
pub(super) fn shown<'a, W, S>(
    flat: &'a [S],
    like: &mut W,
    visit: impl for<'v> Fn(&'v W, &mut Visit<'v, S>),
    visit_mut: impl for<'v> Fn(&'v mut W, &mut VisitMut<'v, S>),
) -> Option<&'a W> {
    // In a niche of a number there is room for the state of a cell that shows the number.
    let has_niche = const { size_of::<Option<S>>() == size_of::<S>() };
    if has_niche || size_of_val(flat) != size_of::<W>() || align_of::<W>() > align_of::<S>() {
        return None;
    }
    if !consists_of_numbers(like, visit) || !consists_of_numbers_mut(like, visit_mut) {
        return None;
    }
    // SAFETY: the numbers have the size and the alignment of `W`. The visit for writing gave every byte of a `W` as a part of a number, so whoever
    // has a `W` can give it any numbers, and all of these are valid. The visit for reading borrowed all bytes as numbers from a shared
    // reference. A cell that lends its number (`OnceCell`) has a byte beside it, as numbers without a niche have none for its state; so no number is in
    // a cell, and the object is as immutable as `flat`.
    Some(unsafe { &*flat.as_ptr().cast() })
}

#[cfg(test)]
mod tests {
    use super::super::{Container, Object, Seen, flat, place_all, show_pieces, show_pieces_mut};
    use crate::scalar::Scalar;
    use std::cell::{Cell, OnceCell};
    use std::ptr;

    /// A container of four numbers that shows the entries of `ORDER`, one piece each.
    macro_rules! containers {
        ($($(#[$attribute:meta])* $name:ident<$S:ident> { $before:ty, $after:ty }, $order:expr;)*) => {$(
            $(#[$attribute])*
            #[derive(Clone, Debug)]
            struct $name<$S> {
                before: $before,
                numbers: [$S; 4],
                after: $after,
            }
            impl<S: Scalar> Container for $name<S> {
                type Scalar = S;
                type With<N: Scalar> = $name<N>;
                fn with<N: Scalar>(&self) -> $name<N> {
                    $name { before: Default::default(), numbers: [N::default(); 4], after: Default::default() }
                }
                fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [S])) {
                    for index in $order {
                        visit(&self.numbers[index..=index]);
                    }
                }
            }
            impl<S: Scalar> Seen for $name<S> {
                type Seen = Self;
                fn seen(&self) -> &Self {
                    self
                }
            }
            impl<S: Scalar> Object for $name<S> {
                fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
                    let mut numbers = self.numbers.each_mut().map(Some);
                    for index in $order {
                        if let Some(number) = numbers[index].take() {
                            visit(std::slice::from_mut(number));
                        }
                    }
                }
            }
            impl<S: Scalar> $name<S> {
                fn of(numbers: [S; 4]) -> Self {
                    $name { before: Default::default(), numbers, after: Default::default() }
                }
            }
        )*};
    }
    containers! {
        #[repr(C)]
        Four<S> { (), () }, 0..4;
        #[repr(C)]
        Inside<S> { u64, u8 }, 0..4;
        #[repr(C)]
        Part<S> { (), () }, 1..3;
        #[repr(C)]
        Front<S> { (), () }, 0..3;
        #[repr(C)]
        Reversed<S> { (), () }, (0..4).rev();
        #[repr(C)]
        Twice<S> { (), () }, [0, 1, 1, 2, 3];
        #[repr(C)]
        Gap<S> { (), () }, [0, 1, 3];
        #[repr(C, align(32))]
        Aligned<S> { (), () }, 0..4;
    }

    fn piece<W: Container>(container: &W) -> Option<&[W::Scalar]> {
        container.piece()
    }

    fn shown<'a, W: Object>(flat: &'a [W::Scalar], like: &mut W) -> Option<&'a W> {
        super::shown(flat, like, show_pieces, show_pieces_mut)
    }

    static NUMBERS: [f64; 4] = [1.0, -2.0, f64::INFINITY, 4.0];

    /// The numbers that are read and written in place, or `None`.
    fn in_place<W: Object<Scalar = f64>>(mut object: W) -> Option<Vec<f64>> {
        let read = piece(&object).map(<[f64]>::to_vec);
        let address = ptr::from_ref(&object).addr();
        assert_eq!(read.is_some(), object.piece_mut().is_some());
        if let Some(numbers) = object.piece_mut() {
            assert!(numbers.is_empty() || (address..address + size_of::<W>()).contains(&numbers.as_ptr().addr()));
            numbers.iter_mut().for_each(|number| *number += 1.0);
            let written = piece(&object)?;
            assert!(read.iter().flatten().zip(written).all(|(read, written)| read + 1.0 == *written));
        }
        read
    }

    #[test]
    fn numbers_that_lie_one_after_the_other_are_one_piece() {
        assert_eq!(in_place(Four::of(NUMBERS)).unwrap(), NUMBERS);
        assert_eq!(in_place(Inside::of(NUMBERS)).unwrap(), NUMBERS);
        assert_eq!(in_place(Aligned::of(NUMBERS)).unwrap(), NUMBERS);
        assert_eq!(in_place(Part::of(NUMBERS)).unwrap(), NUMBERS[1..3]);
        assert!(in_place([0.5; 0]).unwrap().is_empty());
        assert_eq!(in_place((2.5,)).unwrap(), [2.5]);
    }

    #[test]
    fn other_numbers_are_copied() {
        assert!(in_place(Reversed::of(NUMBERS)).is_none());
        assert!(in_place(Gap::of(NUMBERS)).is_none() && piece(&Twice::of(NUMBERS)).is_none());
        // In memory of others, also where one list ends at the beginning of the next.
        assert!(piece(&(vec![1.0], vec![2.0])).is_none());
        let mut memory = Vec::new();
        assert_eq!(flat(&Reversed::of([1.0, 2.0, 3.0, 4.0]), &mut memory), [4.0, 3.0, 2.0, 1.0]);
    }

    #[test]
    fn pieces_beside_each_other_in_other_memory_are_not_one() {
        struct Halves<'a>(&'a [f64], &'a [f64]);
        impl Container for Halves<'_> {
            type Scalar = f64;
            type With<N: Scalar> = (Vec<N>, Vec<N>);
            fn with<N: Scalar>(&self) -> Self::With<N> {
                (self.0.to_vec().with(), self.1.to_vec().with())
            }
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [f64])) {
                visit(self.0);
                visit(self.1);
            }
        }
        let (left, right) = NUMBERS.split_at(2);
        assert!(piece(&Halves(left, right)).is_none());
        assert_eq!(piece(&Halves(&[], right)).unwrap(), right);
        assert_eq!(piece(&Halves(left, &[])).unwrap(), left);
    }

    #[test]
    fn pieces_behind_the_memory_of_the_owner_are_not_read_with_its_own() {
        struct First(f64);
        static BOTH: [First; 2] = [First(1.0), First(2.0)];
        impl Container for First {
            type Scalar = f64;
            type With<N: Scalar> = (N, N);
            fn with<N: Scalar>(&self) -> (N, N) {
                (N::default(), N::default())
            }
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [f64])) {
                visit(std::slice::from_ref(&self.0));
                visit(std::slice::from_ref(&BOTH[1].0));
            }
        }
        assert!(piece(&BOTH[0]).is_none());
        assert_eq!(flat(&BOTH[0], &mut Vec::new()), [1.0, 2.0]);
    }

    #[test]
    fn every_element_of_a_list_is_visited() {
        /// Shows its numbers in ascending order.
        struct Sorted(f64, f64);
        impl Container for Sorted {
            type Scalar = f64;
            type With<N: Scalar> = (N, N);
            fn with<N: Scalar>(&self) -> (N, N) {
                (N::default(), N::default())
            }
            fn pieces<'a>(&'a self, visit: &mut impl FnMut(&'a [f64])) {
                let Sorted(a, b) = self;
                let (least, most) = if a <= b { (a, b) } else { (b, a) };
                visit(std::slice::from_ref(least));
                visit(std::slice::from_ref(most));
            }
        }
        assert!(piece(&[Sorted(1.0, 2.0), Sorted(3.0, 4.0)]).is_some());
        let list = [Sorted(1.0, 2.0), Sorted(4.0, 3.0)];
        assert_eq!(flat(&list, &mut Vec::new()), [1.0, 2.0, 3.0, 4.0]);
        assert!(piece(&list).is_none());
    }

    /// The number of pieces with numbers of a list and of the same list for writing.
    fn pieces<C: Object<Scalar = f64>>(mut list: Vec<C>) -> (usize, usize) {
        let (mut read, mut written) = (0, 0);
        list.pieces(&mut |piece| read += usize::from(!piece.is_empty()));
        list.pieces_mut(&mut |piece| written += usize::from(!piece.is_empty()));
        (read, written)
    }

    #[test]
    fn lists_of_what_consists_of_numbers_are_one_piece() {
        let mut list = vec![Four::of(NUMBERS), Four::of([5.0, 6.0, 7.0, 8.0])];
        assert_eq!(pieces(list.clone()), (1, 1));
        assert_eq!(piece(&list).unwrap(), [&NUMBERS[..], &[5.0, 6.0, 7.0, 8.0]].concat());
        place_all(&mut list, &[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]);
        assert_eq!((list[0].numbers, list[1].numbers), ([0.5, 1.5, 2.5, 3.5], [4.5, 5.5, 6.5, 7.5]));
        assert_eq!(pieces(vec![vec![Four::of(NUMBERS); 2]; 3]), (3, 3));

        assert_eq!(pieces(vec![Inside::of(NUMBERS); 2]), (8, 8));
        assert_eq!(pieces(vec![Part::of(NUMBERS); 2]), (4, 4));
        assert_eq!(pieces(vec![Front::of(NUMBERS); 2]), (6, 6));
        // As many bytes as a `Vec` itself has, elsewhere.
        assert_eq!(pieces(vec![vec![1.0, 2.0, 3.0]; 2]), (2, 2));
        assert_eq!(pieces(vec![(1.0, vec![2.0, 3.0]), (4.0, Vec::new())]), (3, 3));
        assert_eq!(pieces(vec![Reversed::of(NUMBERS); 2]), (8, 8));
        assert_eq!(pieces(vec![[0.5; 0]; 2]), (0, 0));
        assert_eq!(pieces(Vec::<Four<f64>>::new()), (0, 0));
        assert_eq!(pieces(vec![Some(1.0), None, Some(2.0)]), (2, 2));
    }

    #[test]
    fn flat_numbers_are_shown_where_they_lie() {
        let mut like = Four::of([0.0; 4]);
        let object = shown(&NUMBERS, &mut like).unwrap();
        assert_eq!((object.numbers, like.numbers), (NUMBERS, [0.0; 4]));
        assert!(ptr::eq(&raw const object.numbers, &raw const NUMBERS));

        assert!(shown(&NUMBERS[..3], &mut like).is_none());
        assert!(shown(&[], &mut [0.5; 0]).is_none());
        assert!(shown(&[0.5; 6], &mut Inside::of(NUMBERS)).is_none());
        assert!(shown(&NUMBERS, &mut Part::of(NUMBERS)).is_none());
        assert!(shown(&NUMBERS, &mut Front::of(NUMBERS)).is_none());
        assert!(shown(&NUMBERS, &mut Reversed::of(NUMBERS)).is_none());
        assert!(shown(&[0.5; 3], &mut vec![0.5; 3]).is_none());
        assert!(shown(&NUMBERS, &mut Aligned::of(NUMBERS)).is_none());
    }

    #[test]
    fn nothing_is_shown_in_a_cell_that_lends() {
        let mut like = OnceCell::from(true);
        assert_eq!(size_of_val(&like), size_of::<bool>());
        let found = super::shown(
            &[false],
            &mut like,
            |cell, visit| cell.get().into_iter().for_each(|number| visit.add(std::slice::from_ref(number))),
            |cell, visit| cell.get_mut().into_iter().for_each(|number| visit.add(std::slice::from_mut(number))),
        );
        assert!(found.is_none());
    }

    #[test]
    fn what_has_no_size_is_not_joined() {
        assert!(super::all(&[[(), ()], [(), ()]], |pair: &[(); 2], visit| visit.add(pair)).is_none());
    }

    #[test]
    fn nothing_is_shown_in_a_cell() {
        #[derive(Clone, Debug)]
        struct InCell<S: Copy>(Cell<S>);
        impl<S: Scalar> Container for InCell<S> {
            type Scalar = S;
            type With<N: Scalar> = InCell<N>;
            fn with<N: Scalar>(&self) -> InCell<N> {
                InCell(Cell::new(N::default()))
            }
            fn pieces<'a>(&'a self, _: &mut impl FnMut(&'a [S])) {}
        }
        impl<S: Scalar> Seen for InCell<S> {
            type Seen = Self;
            fn seen(&self) -> &Self {
                self
            }
        }
        impl<S: Scalar> Object for InCell<S> {
            fn pieces_mut<'a>(&'a mut self, visit: &mut impl FnMut(&'a mut [S])) {
                visit(std::slice::from_mut(self.0.get_mut()));
            }
        }
        assert!(shown(&[0.5], &mut InCell(Cell::new(1.0))).is_none());
    }
}
