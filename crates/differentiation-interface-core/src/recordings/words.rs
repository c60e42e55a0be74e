//! Numbers as words of 64 bits: what a recording knows of the lengths and the constants it was made with.
//!
//! [`Container::lengths`](crate::container::Container::lengths) passes every length of an argument to [`Words`], and
//! [`ContextKind::constants`](crate::context::ContextKind::constants) every number and every length of a context. They keep these for the
//! first call and compare them in later ones. Bits are compared, not values: 0 and -0 are different numbers for a
//! function, and a NaN is the same number as itself.

/// A plain number, which is one word.
pub trait Word: Copy {
    /// Its bits.
    fn word(self) -> u64;
}

macro_rules! words {
    ($($number:ty: $x:ident => $word:expr;)*) => {$(
        impl Word for $number {
            #[inline(always)]
            fn word(self) -> u64 {
                let $x = self;
                $word
            }
        }
    )*};
}
words! {
    f64: x => x.to_bits();
    f32: x => x.to_bits().into();
    u8: x => x.into();
    u16: x => x.into();
    u32: x => x.into();
    u64: x => x;
    usize: x => x as u64;
    i8: x => x as u64;
    i16: x => x as u64;
    i32: x => x as u64;
    i64: x => x as u64;
    isize: x => x as u64;
    bool: x => x.into();
    char: x => u32::from(x).into();
}

/// Receives numbers and lengths: keeps their bits, or compares them with the bits of an earlier call.
#[derive(Debug)]
pub enum Words<'a> {
    /// Appends the bits.
    Keep(&'a mut Vec<u64>),
    /// Compares with these bits, of which those that have been compared are removed.
    Compare(&'a [u64]),
    /// Mixes the bits into one word, which tells up to two lengths below 2³⁰ for certain, and more of them or other data but for about one case in 2⁶⁴.
    Fold(&'a mut u64),
}

/// The odd number next to 2⁶⁴ / golden ratio, whose multiples lie far from 0 (Knuth, "The Art of Computer Programming" 3, 6.4): so far that no two pairs of
/// lengths below 2³⁰ are mixed to the same word.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// One step of a hash: the known word and a new one. Without the shift, two words that differ by 2⁶³ give states that differ by 2⁶³, which a second such word
/// cancels: the keys 0 and 1 would look like `i64::MIN` and its successor. The shift is one to one, so that two lengths stay apart.
#[inline(always)]
fn mixed(known: u64, word: u64) -> u64 {
    let mixed = known.wrapping_mul(FACTOR).wrapping_add(word.wrapping_add(1));
    mixed ^ (mixed >> 32)
}

/// Words that are compared between two tests for a difference.
const CHUNK: usize = 256;

impl Words<'_> {
    /// Takes numbers, and returns whether they are equal to the known ones.
    #[inline]
    pub fn numbers<W: Word>(&mut self, numbers: &[W]) -> bool {
        match self {
            Words::Keep(words) => {
                words.extend(numbers.iter().map(|number| number.word()));
                true
            }
            Words::Fold(known) => {
                **known = numbers.iter().fold(**known, |known, number| mixed(known, number.word()));
                true
            }
            Words::Compare(known) => {
                let Some((now, later)) = known.split_at_checked(numbers.len()) else { return false };
                *known = later;
                // Without a branch for each number, so that the loop runs on vectors.
                now.chunks(CHUNK).zip(numbers.chunks(CHUNK)).all(|(known, numbers)| {
                    known.iter().zip(numbers).fold(0, |differences, (a, b)| differences | (a ^ b.word())) == 0
                })
            }
        }
    }

    /// Takes a length, and returns whether it is equal to the known one.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn length(&mut self, length: usize) -> bool {
        match self {
            Words::Keep(words) => words.push(length as u64),
            Words::Fold(known) => **known = mixed(**known, length as u64),
            Words::Compare(known) => {
                let [now, later @ ..] = known else { return false };
                if *now != length as u64 {
                    return false;
                }
                *known = later;
            }
        }
        true
    }

    /// Takes lengths, and returns whether they are equal to the known ones.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn lengths<const K: usize>(&mut self, lengths: [usize; K]) -> bool {
        lengths.into_iter().all(|length| self.length(length))
    }

    /// Whether all known words have been compared.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub fn is_complete(&self) -> bool {
        !matches!(self, Words::Compare([_, ..]))
    }
}

/// Plain data: numbers, texts, and what is made of them.
#[doc(hidden)]
pub trait Wordwise {
    /// Passes lengths and numbers to `words`; returns whether they are equal to the known ones.
    fn read(&self, words: &mut Words<'_>) -> bool;
    /// The same for several that lie one after the other.
    #[inline]
    fn read_all(all: &[Self], words: &mut Words<'_>) -> bool
    where
        Self: Sized,
    {
        all.iter().all(|one| one.read(words))
    }
}

impl<W: Word> Wordwise for W {
    #[inline]
    fn read(&self, words: &mut Words<'_>) -> bool {
        words.numbers(std::slice::from_ref(self))
    }
    #[inline]
    fn read_all(all: &[W], words: &mut Words<'_>) -> bool {
        words.numbers(all)
    }
}

impl<D: Wordwise> Wordwise for [D] {
    #[inline]
    fn read(&self, words: &mut Words<'_>) -> bool {
        words.length(self.len()) && D::read_all(self, words)
    }
}

impl<D: Wordwise> Wordwise for Vec<D> {
    #[inline]
    fn read(&self, words: &mut Words<'_>) -> bool {
        self[..].read(words)
    }
}

impl<D: Wordwise, const K: usize> Wordwise for [D; K] {
    #[inline]
    fn read(&self, words: &mut Words<'_>) -> bool {
        D::read_all(self, words)
    }
}

impl<A: Wordwise, B: Wordwise> Wordwise for (A, B) {
    fn read(&self, words: &mut Words<'_>) -> bool {
        self.0.read(words) && self.1.read(words)
    }
}

impl<A: Wordwise, B: Wordwise, C: Wordwise> Wordwise for (A, B, C) {
    fn read(&self, words: &mut Words<'_>) -> bool {
        self.0.read(words) && self.1.read(words) && self.2.read(words)
    }
}

impl<A: Wordwise, B: Wordwise, C: Wordwise, D: Wordwise> Wordwise for (A, B, C, D) {
    fn read(&self, words: &mut Words<'_>) -> bool {
        self.0.read(words) && self.1.read(words) && self.2.read(words) && self.3.read(words)
    }
}

impl Wordwise for () {
    fn read(&self, _: &mut Words<'_>) -> bool {
        true
    }
}

impl Wordwise for str {
    fn read(&self, words: &mut Words<'_>) -> bool {
        self.as_bytes().read(words)
    }
}

impl Wordwise for &str {
    fn read(&self, words: &mut Words<'_>) -> bool {
        (**self).read(words)
    }
}

impl Wordwise for String {
    fn read(&self, words: &mut Words<'_>) -> bool {
        self.as_str().read(words)
    }
}

impl<D: Wordwise> Wordwise for Option<D> {
    fn read(&self, words: &mut Words<'_>) -> bool {
        self.as_slice().read(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept<D: Wordwise + ?Sized>(data: &D) -> Vec<u64> {
        let mut words = Vec::new();
        assert!(data.read(&mut Words::Keep(&mut words)));
        words
    }

    fn equal<D: Wordwise + ?Sized>(data: &D, known: &[u64]) -> bool {
        let mut words = Words::Compare(known);
        data.read(&mut words) && words.is_complete()
    }

    #[test]
    fn bits_count_and_not_values() {
        let known = kept(&[f64::NAN, 0.0, f64::INFINITY]);
        assert!(equal(&[f64::NAN, 0.0, f64::INFINITY], &known));
        assert!(!equal(&[f64::NAN, -0.0, f64::INFINITY], &known));
        assert!(!equal(&[-f64::NAN, 0.0, f64::INFINITY], &known));
        assert!(!equal(&-0.0_f32, &kept(&0.0_f32)));
        assert!(equal(&f32::NAN, &kept(&f32::NAN)));
        assert!(!equal(&-1_i8, &kept(&1_i8)));
    }

    #[test]
    fn lengths_count() {
        let known = kept(&vec![vec![1.0, 2.0], vec![3.0]]);
        assert!(equal(&vec![vec![1.0, 2.0], vec![3.0]], &known));
        assert!(!equal(&vec![vec![1.0], vec![2.0, 3.0]], &known));
        assert!(!equal(&vec![vec![1.0, 2.0]], &known));
        assert!(!equal(&vec![vec![1.0, 2.0], vec![3.0], vec![]], &known));
        assert!(equal::<[f64]>(&[], &kept::<Vec<f64>>(&vec![])));
        assert!(!equal::<[f64]>(&[], &kept(&[5.0][..])));
        assert!(!equal(&[5.0][..], &kept::<[f64]>(&[])));
    }

    #[test]
    fn lengths_are_folded_in_order() {
        let folded = |data: &Vec<Vec<usize>>| {
            let mut word = 0;
            assert!(data.read(&mut Words::Fold(&mut word)));
            word
        };
        let all = [
            vec![],
            vec![vec![]],
            vec![vec![0]],
            vec![vec![], vec![]],
            vec![vec![1], vec![2, 3]],
            vec![vec![1, 2], vec![3]],
        ];
        for (i, one) in all.iter().enumerate() {
            for (j, other) in all.iter().enumerate() {
                assert_eq!(i == j, folded(one) == folded(other), "{one:?} {other:?}");
            }
        }
    }

    #[test]
    fn keys_that_differ_in_high_bits_alone_are_told_apart() {
        let folded = |keys: [i64; 2]| {
            let mut word = 0;
            assert!(keys.read(&mut Words::Fold(&mut word)));
            word
        };
        let far = [0, 1 << 62, i64::MIN, i64::MIN | (1 << 62), 1 << 61, 1 << 48, 1 << 33, 1 << 32, -(1 << 32), 1 << 31];
        for (i, one) in far.iter().enumerate() {
            for (j, other) in far.iter().enumerate() {
                assert_eq!(i == j, folded([*one, one + 1]) == folded([*other, other + 1]), "{one} {other}");
            }
        }
    }

    /// Two pairs with the same word would be a multiple of the factor, by the difference of the first lengths, nearer to 0 than the second lengths differ. Euclid's
    /// algorithm has the multiples that lie nearer to 0 than all smaller ones.
    #[test]
    fn pairs_of_lengths_have_words_of_their_own() {
        const MOST: u128 = 1 << 30;
        let (mut larger, mut distance) = (1_u128 << 64, u128::from(FACTOR));
        let (mut before, mut multiple) = (0, 1);
        while multiple < MOST {
            assert!(distance >= MOST, "{multiple} times the factor is {distance} from 0");
            (before, multiple) = (multiple, larger / distance * multiple + before);
            (larger, distance) = (distance, larger % distance);
        }
    }

    #[test]
    fn every_number_of_long_data_is_compared() {
        let data: Vec<f64> = (0..1000).map(f64::from).collect();
        let known = kept(&data);
        assert!(equal(&data, &known));
        for i in [0, 255, 256, 511, 999] {
            let mut other = data.clone();
            other[i] += 0.5;
            assert!(!equal(&other, &known), "{i}");
        }
    }

    #[test]
    fn tuples_options_and_texts() {
        assert!(!equal(&(1.0, 3_usize, true), &kept(&(1.0, 3_usize, false))));
        assert!(equal(&(1.0, vec![3_usize]), &kept(&(1.0, vec![3_usize]))));
        assert!(!equal(&Some(0.0), &kept(&None::<f64>)) && !equal(&None::<f64>, &kept(&Some(0.0))));
        assert!(equal(&Some(2.0), &kept(&Some(2.0))) && !equal(&Some(2.0), &kept(&Some(3.0))));
        assert!(equal(&"linear", &kept("linear")));
        assert!(equal("linear", &kept(&String::from("linear"))) && !equal("linear", &kept("cubic!")));
    }
}
