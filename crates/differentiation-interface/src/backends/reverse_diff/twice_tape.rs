//! The tape of second order: its entries, and the forward and reverse sweeps over it.
//!
//! With ẋ the tangents along a seed and x̄ the adjoints of the one output, an entry w of the tape with arguments u and v does
//! ẇ = wᵤ u̇ + wᵥ v̇ in the forward sweep, and in the reverse sweep
//! ū += wᵤ w̄ and ū̇ += wᵤ w̄̇ + w̄ (wᵤᵤ u̇ + wᵤᵥ v̇), the same for v. At the inputs ū is the gradient and ū̇ the product of the
//! Hessian with the seed. Called by the state in `twice.rs`; entries come from `twice_var.rs`.

use super::along_entry::{Along, fixed, moving};
use super::tape::{CompiledOnce, Entry, ThreadTape, entry_with_thread_tape};
use differentiation_interface_core::custom::{CustomRule, ValueRule, pullback_by_rule, pushforward_by_rule};
use differentiation_interface_core::scalar::Scalar;
use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

/// An entry: the first and second derivatives of an operation with respect to its two arguments, which are inputs or
/// earlier entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct TwiceNode<S> {
    pub(super) partials: [S; 2],
    /// With respect to the first argument twice, both, the second twice.
    pub(super) seconds: [S; 3],
    pub(super) parents: [u32; 2],
}

/// A custom rule on the tape: its outputs are consecutive entries without arguments.
#[derive(Clone)]
pub(super) struct TwiceCall<S> {
    /// The entry of the first output.
    pub(super) first: u32,
    pub(super) outputs: usize,
    /// Per argument, the entry that it depends on and its two derivatives with respect to the entry; `None` for a constant.
    pub(super) arguments: Vec<Option<(u32, [S; 2])>>,
    pub(super) rule: Arc<dyn Propagate<S>>,
}

impl<S> fmt::Debug for TwiceCall<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TwiceCall({} -> {})", self.arguments.len(), self.outputs)
    }
}

entry_with_thread_tape! {
    TWICE_THREAD_TAPE: TwiceNode, TwiceCall, source TwiceNode {
        partials: [S::default(); 2],
        seconds: [S::default(); 3],
        parents: [0; 2],
    }
}

/// Propagates tangents and adjoints through a custom rule at the point of its call.
pub(super) trait Propagate<S>: Send + Sync {
    /// Whether Jᵀ times zero is zero.
    fn is_regular(&self) -> bool;
    /// Fills `dy` with J `dx`.
    fn tangents(&self, dx: &[S], dy: &mut [S]);
    /// Returns Jᵀ `dy`.
    fn adjoints(&self, dy: &[S]) -> Vec<S>;
    /// Returns Jᵀ `dy` and its derivative, for arguments, outputs and `dy` with tangents.
    fn products(&self, dx: &[Option<S>], y_tangents: &[S], dy: &[S], dy_tangents: &[S]) -> (Vec<S>, Vec<S>);
}

/// A custom rule that a tape of second derivatives calls.
pub(super) trait RuleOfTape<S: Scalar>: ValueRule<S> {
    /// The rule at the point `x`, where the outputs are `y`.
    fn applied(&self, x: Vec<S>, y: Vec<S>) -> Arc<dyn Propagate<S>>;
}

impl<S: Scalar, R: CustomRule<S::Base>> RuleOfTape<S> for Arc<R> {
    fn applied(&self, x: Vec<S>, y: Vec<S>) -> Arc<dyn Propagate<S>> {
        Arc::new(AppliedRule { rule: Arc::clone(self), x, y })
    }
}

/// A custom rule and the point of its call.
struct AppliedRule<R, S> {
    rule: Arc<R>,
    x: Vec<S>,
    y: Vec<S>,
}

impl<S: Scalar, R: CustomRule<S::Base>> Propagate<S> for AppliedRule<R, S> {
    fn is_regular(&self) -> bool {
        self.rule.is_regular(&self.x, &self.y)
    }
    fn tangents(&self, dx: &[S], dy: &mut [S]) {
        pushforward_by_rule(&*self.rule, &self.x, &self.y, dx, dy);
    }
    fn adjoints(&self, dy: &[S]) -> Vec<S> {
        let mut dx = vec![S::default(); self.x.len()];
        pullback_by_rule(&*self.rule, &self.x, &self.y, dy, &mut dx);
        dx
    }
    fn products(&self, dx: &[Option<S>], y_tangents: &[S], dy: &[S], dy_tangents: &[S]) -> (Vec<S>, Vec<S>) {
        let x: Vec<_> = self.x.iter().zip(dx).map(|(&x, dx)| dx.map_or(fixed(x), |dx| moving(x, dx))).collect();
        let y: Vec<_> = self.y.iter().zip(y_tangents).map(|(&y, &tangent)| moving(y, tangent)).collect();
        // A zero that does not move is absent.
        let seed = |(&dy, &tangent): (&S, &S)| match dy.is_inert_zero() && tangent.is_inert_zero() {
            true => fixed(dy),
            false => moving(dy, tangent),
        };
        let dy: Vec<_> = dy.iter().zip(dy_tangents).map(seed).collect();
        let mut products = vec![Along::default(); x.len()];
        pullback_by_rule(&*self.rule, &x, &y, &dy, &mut products);
        products.iter().map(|product| (product.0.value(), product.0.slope().unwrap_or_default())).unzip()
    }
}

/// Tangents, adjoints and products of all inputs and entries, `K` seeds at once. Entry `i` of the tape is at `inputs + i`.
pub(super) struct Sweep<'a, S, const K: usize> {
    pub(super) inputs: usize,
    pub(super) nodes: &'a [TwiceNode<S>],
    /// Those whose outputs are among the entries in `nodes`.
    pub(super) calls: &'a [TwiceCall<S>],
    pub(super) tangents: &'a [Cell<[S; K]>],
    pub(super) adjoints: &'a [Cell<S>],
    pub(super) products: &'a [Cell<[S; K]>],
}

/// Whether a product with these numbers can be skipped. It must be skipped where it would be 0 · ∞.
#[cfg_attr(not(debug_assertions), inline(always))]
fn all_zero<S: Scalar>(lanes: &[S]) -> bool {
    lanes.iter().all(S::is_inert_zero)
}

/// Adds `factor` times `lanes`.
#[cfg_attr(not(debug_assertions), inline(always))]
fn add_scaled<S: Scalar, const K: usize>(target: &Cell<[S; K]>, factor: S, lanes: &[S; K]) {
    let mut sums = target.get();
    for (sum, &lane) in sums.iter_mut().zip(lanes) {
        *sum += factor * lane;
    }
    target.set(sums);
}

impl<S: Scalar, const K: usize> Sweep<'_, S, K> {
    /// Propagates the tangents of the inputs to all entries.
    pub(super) fn forwards(&self) {
        let mut done = 0;
        for call in self.calls {
            let first = call.first as usize - self.inputs;
            self.tangents_of(done, first);
            call.push_tangents(self, K);
            done = first + call.outputs;
        }
        self.tangents_of(done, self.nodes.len());
    }

    /// Propagates products, and adjoints if `WANTED`, back to the inputs.
    pub(super) fn backwards<const WANTED: bool>(&self) {
        let mut end = self.nodes.len();
        for call in self.calls.iter().rev() {
            let first = call.first as usize - self.inputs;
            self.products_of::<WANTED>(first + call.outputs, end);
            call.pull_products(self, K, WANTED);
            end = first;
        }
        self.products_of::<WANTED>(0, end);
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn tangents_of(&self, start: usize, end: usize) {
        for (node, target) in self.nodes[start..end].iter().zip(&self.tangents[self.inputs + start..]) {
            let mut sums = [S::default(); K];
            for (&partial, parent) in node.partials.iter().zip(node.parents) {
                let lanes = self.tangents[parent as usize].get();
                if !all_zero(&lanes) {
                    for (sum, lane) in sums.iter_mut().zip(lanes) {
                        *sum += partial * lane;
                    }
                }
            }
            target.set(sums);
        }
    }

    #[cfg_attr(not(debug_assertions), inline(always))]
    fn products_of<const WANTED: bool>(&self, start: usize, end: usize) {
        let (adjoints, products) = (&self.adjoints[self.inputs + start..], &self.products[self.inputs + start..]);
        for ((node, adjoint), product) in self.nodes[start..end].iter().zip(adjoints).zip(products).rev() {
            let (adjoint, product) = (adjoint.get(), product.get());
            let parents = node.parents.map(|parent| parent as usize);
            if !all_zero(&product) {
                for (&partial, parent) in node.partials.iter().zip(parents) {
                    add_scaled(&self.products[parent], partial, &product);
                }
            }
            if adjoint.is_inert_zero() {
                continue;
            }
            if WANTED {
                for (&partial, parent) in node.partials.iter().zip(parents) {
                    let sum = &self.adjoints[parent];
                    sum.set(sum.get() + partial * adjoint);
                }
            }
            if all_zero(&node.seconds) {
                continue;
            }
            let [u, v] = parents;
            let [uu, uv, vv] = node.seconds;
            for (second, along, to) in [(uu, u, u), (uv, v, u), (uv, u, v), (vv, v, v)] {
                if !second.is_inert_zero() {
                    let tangent = self.tangents[along].get();
                    if !all_zero(&tangent) {
                        add_scaled(&self.products[to], adjoint * second, &tangent);
                    }
                }
            }
        }
    }
}

/// The numbers of a sweep by entry and lane. The number of lanes is no type here, so that custom rules are propagated by code that is compiled once.
trait Places<S> {
    fn tangent(&self, entry: usize, lane: usize) -> &Cell<S>;
    fn adjoint(&self, entry: usize) -> &Cell<S>;
    fn product(&self, entry: usize, lane: usize) -> &Cell<S>;
}

impl<S: Scalar, const K: usize> Places<S> for Sweep<'_, S, K> {
    fn tangent(&self, entry: usize, lane: usize) -> &Cell<S> {
        &self.tangents[entry].as_array_of_cells()[lane]
    }
    fn adjoint(&self, entry: usize) -> &Cell<S> {
        &self.adjoints[entry]
    }
    fn product(&self, entry: usize, lane: usize) -> &Cell<S> {
        &self.products[entry].as_array_of_cells()[lane]
    }
}

fn add<S: Scalar>(sum: &Cell<S>, term: S) {
    let mut total = sum.get();
    total += term;
    sum.set(total);
}

impl<S: Scalar> TwiceCall<S> {
    /// The tangents of the arguments in one lane; `None` for a constant.
    fn tangents(&self, sweep: &dyn Places<S>, lane: usize) -> Vec<Option<S>> {
        let tangent = |&(entry, [first, _]): &(u32, [S; 2])| {
            let tangent = sweep.tangent(entry as usize, lane).get();
            if tangent.is_inert_zero() { tangent } else { first * tangent }
        };
        self.arguments.iter().map(|argument| argument.as_ref().map(tangent)).collect()
    }

    /// A number of each output.
    fn outputs(&self, number: impl Fn(usize) -> S) -> Vec<S> {
        (0..self.outputs).map(|output| number(self.first as usize + output)).collect()
    }

    fn push_tangents(&self, sweep: &dyn Places<S>, lanes: usize) {
        let mut dy = vec![S::default(); self.outputs];
        for lane in 0..lanes {
            let dx: Vec<S> = self.tangents(sweep, lane).into_iter().map(Option::unwrap_or_default).collect();
            let moves = !all_zero(&dx);
            if moves {
                self.rule.tangents(&dx, &mut dy);
            }
            for (output, &dy) in dy.iter().enumerate() {
                let tangent = if moves { dy } else { S::default() };
                sweep.tangent(self.first as usize + output, lane).set(tangent);
            }
        }
    }

    /// Propagates products, and adjoints if they are wanted.
    fn pull_products(&self, sweep: &dyn Places<S>, lanes: usize, wanted: bool) {
        let dy = self.outputs(|output| sweep.adjoint(output).get());
        let is_unused = self.rule.is_regular() && all_zero(&dy);
        // One pullback gives the products of a lane, and the adjoints, which are the same in all of them.
        let mut adjoints = None;
        for lane in 0..lanes {
            let tangents = self.tangents(sweep, lane);
            let dy_tangents = self.outputs(|output| sweep.product(output, lane).get());
            let moves = tangents.iter().flatten().any(|tangent| !tangent.is_inert_zero());
            let products = match (moves && !is_unused, all_zero(&dy_tangents)) {
                (true, _) => {
                    let y_tangents = self.outputs(|output| sweep.tangent(output, lane).get());
                    let found = self.rule.products(&tangents, &y_tangents, &dy, &dy_tangents);
                    adjoints = Some(found.0);
                    found.1
                }
                (false, false) => self.rule.adjoints(&dy_tangents),
                (false, true) => continue,
            };
            self.add(&products, |entry| sweep.product(entry, lane));
        }
        if is_unused {
            return;
        }
        let adjoints = adjoints.unwrap_or_else(|| self.rule.adjoints(&dy));
        if wanted {
            self.add(&adjoints, |entry| sweep.adjoint(entry));
        }
        // The second derivatives of the arguments with respect to their entries.
        for (argument, &dx) in self.arguments.iter().zip(&adjoints) {
            let Some((entry, [_, second])) = *argument else { continue };
            if second.is_inert_zero() || dx.is_inert_zero() {
                continue;
            }
            for lane in 0..lanes {
                let tangent = sweep.tangent(entry as usize, lane).get();
                if !tangent.is_inert_zero() {
                    add(sweep.product(entry as usize, lane), second * tangent * dx);
                }
            }
        }
    }

    /// Adds the rule's term for each argument to the entry that the argument depends on. A zero is absent, also where the argument has an
    /// infinite derivative.
    fn add<'s>(&self, terms: &[S], sum: impl Fn(usize) -> &'s Cell<S>)
    where
        S: 's,
    {
        for (argument, &term) in self.arguments.iter().zip(terms) {
            if let Some((entry, [first, _])) = *argument
                && !term.is_inert_zero()
            {
                add(sum(entry as usize), first * term);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_do_not_meet_infinite_derivatives() {
        let inf = f64::INFINITY;
        let nodes = [TwiceNode { partials: [inf, 1.0], seconds: [-inf, 0.0, 2.0], parents: [0, 1] }];
        let (mut tangents, mut adjoints, mut products) = ([[0.0], [3.0], [0.0]], [0.0, 0.0, 1.0], [[0.0]; 3]);
        let sweep = Sweep {
            inputs: 2,
            nodes: &nodes,
            calls: &[],
            tangents: Cell::from_mut(&mut tangents[..]).as_slice_of_cells(),
            adjoints: Cell::from_mut(&mut adjoints[..]).as_slice_of_cells(),
            products: Cell::from_mut(&mut products[..]).as_slice_of_cells(),
        };
        sweep.forwards();
        sweep.backwards::<true>();
        assert_eq!(tangents[2], [3.0]);
        assert_eq!(adjoints, [inf, 1.0, 1.0]);
        assert_eq!(products, [[0.0], [6.0], [0.0]]);
    }
}
