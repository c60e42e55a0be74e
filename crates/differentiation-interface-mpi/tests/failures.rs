//! What goes wrong on one rank is an error on all ranks: other arguments, errors and panics of the function, lost ranks.
//!
//! With an argument `stall`, `stall-first` or `exit`, a rank is lost: the job must end in time with an error on every other rank.

mod support;

use differentiation_interface::prelude::*;
use differentiation_interface_mpi::{Distributed, Ranks, RowSplit, Terms};
use std::time::{Duration, Instant};
use support::on_ranks;

/// xᵢ², with what one rank does otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Squares {
    Fine,
    Panic,
    Longer,
    Banded,
}

impl<T: Real> Function<[T]> for Squares {
    type Output = Vec<T>;
    fn call(&self, x: &[T]) -> Vec<T> {
        let mut y: Vec<T> = x.iter().map(|&v| v * v).collect();
        match self {
            Squares::Fine => {}
            Squares::Panic => panic!("the density is negative"),
            Squares::Longer => y.push(x[0]),
            Squares::Banded => y[0] += x[1],
        }
        y
    }
}

struct Sum(Squares);
impl<T: Real> Function<[T]> for Sum {
    type Output = T;
    fn call(&self, x: &[T]) -> T {
        self.0.call(x).into_iter().sum()
    }
}

/// Writes one entry less on one rank.
struct Unwritten(bool);
impl<T: Real> FunctionInPlace<T, [T]> for Unwritten {
    fn call_in_place(&self, y: &mut [T], x: &[T]) {
        y[0] = x[0];
        if !self.0 {
            y[1] = x[1];
        }
    }
}

const X: [f64; 3] = [1.0, 2.0, 3.0];

/// Asserts an error of this kind, with the rank and the text that the others see.
#[track_caller]
fn differs<R: std::fmt::Debug>(result: Result<R, Error>, rank: usize, what: &str) {
    let error = result.unwrap_err();
    match error.kind() {
        ErrorKind::RanksDisagree { rank: found, what: text } => {
            assert_eq!(found, rank);
            assert!(text.contains(what), "{error}");
        }
        _ => panic!("{error}"),
    }
}

/// Different arguments and failures; the group stays usable after each.
fn failures(ranks: &Ranks) {
    let (last, odd) = (ranks.size() - 1, ranks.rank() == ranks.size() - 1);
    let several = ranks.size() > 1;
    let forward = AutoForwardDiff::default();
    let backend = Distributed::new(ranks, forward);
    let sparse = Distributed::over(ranks, AutoSparse::new(ranks.part(forward)));
    let works = || {
        let jac = jacobian(&Squares::Fine, &backend, &X).unwrap();
        assert_eq!(jac, [[2.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 6.0]]);
    };
    let on_odd = |squares| if odd { squares } else { Squares::Fine };
    works();
    if several {
        let x = if odd { [1.0, 2.0, 3.0 + 1e-15] } else { X };
        differs(jacobian(&Squares::Fine, &backend, &x), last, "point");
        differs(ranks.agree(&x), last, "point");
        works();
        let x = if odd { vec![1.0; 4] } else { X.to_vec() };
        differs(jacobian(&Squares::Fine, &backend, &x), last, "length");
        differs(prepare_jacobian(&Squares::Fine, &backend, &x).map(drop), last, "length");
        works();
        let result = if odd {
            jacobian(&Squares::Fine, &Distributed::new(ranks, AutoReverseDiff::default()), &X)
        } else {
            jacobian(&Squares::Fine, &backend, &X)
        };
        differs(result, last, "backend");
        let result =
            if odd { jacobian(&Squares::Fine, &backend, &X) } else { hessian(&Sum(Squares::Fine), &backend, &X) };
        differs(result, last, "operator");
        works();
        differs(jacobian(&on_odd(Squares::Longer), &backend, &X), last, "outputs");
        differs(jacobian(&on_odd(Squares::Banded), &sparse, &X), last, "pattern");
        differs(jacobian(&on_odd(Squares::Banded), &sparse.clone().in_rows(RowSplit::Even), &X), last, "pattern");
        let terms = Terms::shared(ranks, 4 + usize::from(odd), |_| Sum(Squares::Fine));
        differs(gradient(&terms, &backend, &X), last, "division");
        differs(ranks.sum(4 + usize::from(odd), 1, |_, _| ()), last, "division");
        works();
    }
    // A panic is an error everywhere, on one rank as on many.
    for result in [
        jacobian(&on_odd(Squares::Panic), &backend, &X).map(drop),
        jacobian(&on_odd(Squares::Panic), &sparse, &X).map(drop),
        jacobian(&on_odd(Squares::Panic), &sparse.clone().in_rows(RowSplit::OnRank(0)), &X).map(drop),
        prepare_jacobian(&on_odd(Squares::Panic), &sparse, &X).map(drop),
        value_gradient_and_hessian(&Sum(on_odd(Squares::Panic)), &backend, &X).map(drop),
        gradient(&Terms::shared(ranks, 8, |_| Sum(on_odd(Squares::Panic))), &backend, &X).map(drop),
        hvp(&Terms::shared(ranks, 8, |_| Sum(on_odd(Squares::Panic))), &backend, &X, [&X[..]]).map(drop),
        ranks.sum(8, 1, |k, _| assert!(k < 7, "the density is negative")).map(drop),
    ] {
        let error = result.unwrap_err();
        let ErrorKind::RankFailed { rank, message } = error.kind() else { panic!("{error}") };
        assert_eq!((rank, message), (last, "the function panicked: the density is negative"), "{error}");
        works();
    }
    // An error that one rank alone finds: the rank has it itself, the others have its text.
    let f = in_place(Unwritten(odd), 2);
    let error = jacobian(&f, &backend, &[1.0, 2.0]).unwrap_err();
    let own = "jacobian with forward_diff: the in-place function left entry 1 of its output unwritten, or read it before writing; \
               write every entry in every call";
    if odd {
        assert_eq!(error.to_string(), own);
    } else {
        let text = format!("jacobian with forward_diff: rank {last} failed, so no rank has a result: {own}");
        assert!(error.to_string().starts_with(&text), "{error}");
    }
    works();
    // A buffer of another size on one rank.
    let (rows, columns) = if odd { (2, 3) } else { (3, 3) };
    let error = jacobian_into(&Squares::Fine, &mut Matrix::filled(rows, columns, 0.0), &backend, &X).unwrap_err();
    match error.kind() {
        ErrorKind::BufferSize { expected, found } => assert_eq!((odd, expected, found), (true, (3, 3), (2, 3))),
        ErrorKind::RankFailed { rank, .. } => assert_eq!((odd, rank), (false, last)),
        _ => panic!("{error}"),
    }
    let in_rows = sparse.clone().in_rows(RowSplit::Even);
    let mut prepared = prepare_jacobian(&Squares::Fine, &in_rows, &X).unwrap();
    let mut other = jacobian(&Squares::Banded, &in_rows, &X).unwrap();
    let error = prepared.jacobian_into(&mut other, &X).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::BufferPattern | ErrorKind::RankFailed { rank: 0, .. }), "{error}");
    assert!(jacobian_into(&Squares::Fine, &mut other, &in_rows, &X).is_err());
    assert!(jacobian_into(&Squares::Banded, &mut other, &in_rows, &X).is_ok());
    let error = jacobian(&Squares::Fine, &sparse.clone().in_rows(RowSplit::OnRank(ranks.size())), &X).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NoSuchRank { rank: ranks.size(), ranks: ranks.size() });
    works();
    if several {
        let ranks = *ranks;
        let other = std::thread::spawn(move || {
            let backend = Distributed::new(&ranks, AutoForwardDiff::default());
            jacobian(&Squares::Fine, &backend, &X).unwrap_err().kind()
        });
        assert_eq!(other.join().unwrap(), ErrorKind::RanksOfOtherThread);
    }
    works();
}

/// One rank does not come to a call in time.
fn lost(ranks: &Ranks, culprit: usize, comes_later: bool) {
    let limit = Duration::from_millis(700);
    let ranks = ranks.with_timeout(limit);
    let backend = Distributed::new(&ranks, AutoForwardDiff::default());
    jacobian(&Squares::Fine, &backend, &X).unwrap();
    if ranks.rank() == culprit {
        if !comes_later {
            return;
        }
        std::thread::sleep(limit * 4);
    }
    let start = Instant::now();
    let error = jacobian(&Squares::Fine, &backend, &X).unwrap_err();
    assert!(start.elapsed() < limit * 4, "it took {:?}", start.elapsed());
    assert_eq!(error.kind(), ErrorKind::RankLost { rank: culprit, milliseconds: 700 }, "{error}");
    assert!(error.to_string().contains("did not reach this call within 700 ms"), "{error}");
    // From now on every call is an error at once.
    let start = Instant::now();
    assert!(jacobian(&Squares::Fine, &backend, &X).is_err());
    assert!(start.elapsed() < limit / 4);
    println!("rank {}: {error}", ranks.rank());
}

fn main() {
    let how = std::env::args().nth(1).unwrap_or_default();
    on_ranks(&format!("failures {how}"), |ranks, _| match &*how {
        "stall" => lost(ranks, ranks.size() - 1, true),
        "stall-first" => lost(ranks, 0, true),
        // The rank ends MPI and the program; MPI waits for the others.
        "exit" => lost(ranks, ranks.size() - 1, false),
        _ => failures(ranks),
    });
}
