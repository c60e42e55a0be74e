//! The binomial schedule: which states to keep while a loop is run backwards with a limited number of snapshots.
//!
//! Called by the reverse sweep in `mod.rs`. A. Griewank, A. Walther: Algorithm 799: revolve, ACM Transactions on Mathematical Software
//! 26 (2000) 19-45. With s snapshots, the initial state among them, and every step run again at most r times, the longest loop that can
//! be reversed has β(s, r) = (s + r)! / (s! r!) steps; a loop of l steps with β(s, r - 1) < l ≤ β(s, r) takes r l - β(s + 1, r - 1) steps
//! that are run again, and no schedule takes fewer.

/// β(s, r), or the largest number if that is larger.
fn beta(snapshots: usize, repeats: usize) -> u64 {
    let (small, large) = (snapshots.min(repeats) as u128, snapshots.max(repeats) as u128);
    let mut product = 1u128;
    for k in 1..=small {
        // Exact: the product of k consecutive numbers is divisible by k!.
        product = product * (large + k) / k;
        if product > u128::from(u64::MAX) {
            return u64::MAX;
        }
    }
    product as u64
}

/// The least number from `low` to `high` that is enough, where `high` is and each number above one that is enough is too.
fn least_of(mut low: usize, mut high: usize, enough: impl Fn(usize) -> bool) -> usize {
    while low < high {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// The least r with `steps` ≤ β(s, r).
pub(super) fn repeats(steps: usize, snapshots: usize) -> usize {
    if snapshots == 1 {
        return steps.saturating_sub(1);
    }
    let enough = |r| steps as u64 <= beta(snapshots, r);
    let mut high = 1;
    while !enough(high) {
        high *= 2;
    }
    least_of(0, high, enough)
}

/// The number of steps that are run again, beside one for each step that is differentiated; the largest number if that is larger.
pub(super) fn repeated_steps(steps: usize, snapshots: usize) -> u64 {
    match repeats(steps, snapshots) {
        0 => 0,
        r => match beta(snapshots.saturating_add(1), r - 1) {
            // r l - β(s + 1, r - 1) is then at least as large.
            u64::MAX => u64::MAX,
            less => u64::try_from(r as u128 * steps as u128 - u128::from(less)).unwrap_or(u64::MAX),
        },
    }
}

/// The steps from the last snapshot to the next one, for a loop of at least two steps and with at least two snapshots, the last one
/// among them.
pub(super) fn lead(steps: usize, snapshots: usize) -> usize {
    let r = repeats(steps, snapshots);
    let least = if r >= 2 { beta(snapshots, r - 2) } else { 1 };
    least.max((steps as u64).saturating_sub(beta(snapshots - 1, r))) as usize
}

/// The least number of snapshots with which each of the steps is run again at most `most` times.
pub(super) fn snapshots_for(steps: usize, most: usize) -> usize {
    least_of(1, steps.max(1), |snapshots| steps as u64 <= beta(snapshots, most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binomials() {
        assert_eq!([beta(3, 0), beta(1, 4), beta(2, 2), beta(3, 3), beta(10, 3)], [1, 5, 6, 20, 286]);
        assert_eq!(beta(1000, 1000), u64::MAX);
    }

    /// The least number of steps that are run again, by trying all positions of the next snapshot.
    fn least(steps: usize, snapshots: usize) -> Vec<Vec<u64>> {
        let mut least = vec![vec![0u64; snapshots + 1]; steps + 1];
        for l in 2..=steps {
            for s in 1..=snapshots {
                least[l][s] = match s {
                    1 => (l * (l - 1) / 2) as u64,
                    _ => (1..l).map(|m| m as u64 + least[m][s] + least[l - m][s - 1]).min().unwrap_or(0),
                };
            }
        }
        least
    }

    #[test]
    fn schedules_take_the_least_number_of_steps() {
        let least = least(70, 9);
        for steps in 1..=70 {
            for snapshots in 1..=9 {
                assert_eq!(repeated_steps(steps, snapshots), least[steps][snapshots], "{steps} {snapshots}");
                if steps >= 2 && snapshots >= 2 {
                    let m = lead(steps, snapshots);
                    assert!((1..steps).contains(&m));
                    let by_lead = m as u64 + least[m][snapshots] + least[steps - m][snapshots - 1];
                    assert_eq!(by_lead, least[steps][snapshots], "{steps} {snapshots} {m}");
                }
            }
        }
    }

    #[cfg(target_pointer_width = "64")]
    #[test]
    fn the_longest_loops_have_numbers_too() {
        // n (n - 1) / 2 with one snapshot, as far as that is a `u64`.
        let half = |n: u64| (u128::from(n) * u128::from(n - 1) / 2) as u64;
        for n in [1 << 32, 6_074_000_999_u64] {
            assert_eq!(repeated_steps(n as usize, 1), half(n));
        }
        for steps in [1 << 33, 1 << 62, usize::MAX] {
            assert_eq!(repeated_steps(steps, 1), u64::MAX, "{steps}");
            let snapshots = snapshots_for(steps, 3);
            assert_eq!(repeats(steps, snapshots), 3);
            let exact = 3 * steps as u128 - (snapshots as u128 + 3) * (snapshots as u128 + 2) / 2;
            assert_eq!(repeated_steps(steps, snapshots), u64::try_from(exact).unwrap_or(u64::MAX), "{steps}");
            // β(2, r) = (r + 1)(r + 2) / 2
            let r = repeats(steps, 2) as u128;
            assert!(r * (r + 1) / 2 < steps as u128 && steps as u128 <= (r + 1) * (r + 2) / 2, "{steps} {r}");
        }
    }

    #[test]
    fn default_snapshots() {
        assert_eq!(
            [snapshots_for(0, 3), snapshots_for(1, 3), snapshots_for(20, 3), snapshots_for(21, 3)],
            [1, 1, 3, 4]
        );
        assert_eq!(snapshots_for(1_000_000, 3), 180);
        assert_eq!(repeats(1_000_000, 180), 3);
    }
}
