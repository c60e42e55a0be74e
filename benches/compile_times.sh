#!/usr/bin/env bash
# Processor time of builds, in seconds: what an edit of a six-line program costs, and builds from nothing. Prints a table.
# `benches/compile_times.sh [edits]`: without the builds from nothing, which take minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$PWD
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export CARGO_TERM_COLOR=never CARGO_INCREMENTAL=0

# User and system time of a command.
seconds() {
    local TIMEFORMAT='%U %S'
    { time "$@" >"$folder/log" 2>&1 || { cat "$folder/log" >&2; exit 1; }; } 2>&1 | awk '{ printf "%.1f", $1 + $2 }'
}
row() { printf '| %s | %s | %s |\n' "$1" "$2" "$3"; }

mkdir -p "$folder/programs/src/bin"
cat >"$folder/programs/Cargo.toml" <<TOML
[package]
name = "programs"
version = "0.1.0"
edition = "2024"
[workspace]
[features]
default = ["all"]
all = ["differentiation-interface/default"]
[dependencies]
differentiation-interface = { path = "$root/crates/differentiation-interface", default-features = false }
TOML
cp Cargo.lock "$folder/programs/"
# Six lines each: a function, and one derivative of it: a program's name, an operator, a backend and what comes behind the point.
program() {
    cat >"$folder/programs/src/bin/$1.rs" <<RUST
use differentiation_interface::prelude::*;
struct Rosenbrock;
impl<T: Real> Function<[T]> for Rosenbrock {
    type Output = T;
    fn call(&self, x: &[T]) -> T { x.windows(2).map(|w| 100.0 * (w[1] - w[0] * w[0]).powi(2) + (1.0 - w[0]).powi(2)).sum() }
}
fn main() { println!("{:?}", $2(&Rosenbrock, &$3, &vec![0.5; 10]${4:-})); }
RUST
}
program forward gradient 'AutoForwardDiff::default()'
program reverse gradient 'AutoReverseDiff::default()'
program differences gradient 'AutoFiniteDiff::central()'
program hessian hessian 'SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default())'
program sparse_hessian hessian 'AutoSparse::new(SecondOrder(AutoForwardDiff::default(), AutoReverseDiff::default()))'
program compiled gradient 'AutoReverseDiff::compiled()'
program expansion taylor_expansion AutoTaylor ', 3'

build() { cargo build --release --manifest-path "$folder/programs/Cargo.toml" --target-dir "$root/target/compile_times" "$@"; }
edit() {
    touch "$folder/programs/src/bin/$1.rs"
    build --bin "$1"
}

echo '| what | processor time (s) | at most |'
echo '|---|---|---|'
rm -rf target/compile_times
build --bin forward >/dev/null 2>&1
for name in forward reverse differences hessian sparse_hessian compiled expansion; do
    build --bin "$name" >/dev/null 2>&1
    case $name in sparse_hessian | compiled) limit=3 ;; *) limit=1.5 ;; esac
    row "$name after an edit, release" "$(seconds edit "$name")" "$limit"
done
[ "${1:-}" = edits ] && exit
# The dependency alone: the same program without any derivative.
echo 'fn main() {}' >"$folder/programs/src/bin/nothing.rs"
rm -rf target/compile_times
row 'the dependency with defaults from nothing, release' "$(seconds build --bin nothing)" 30
rm -rf target/compile_times
row 'the dependency without features (forward, tape, differences) from nothing, release' "$(seconds build --bin nothing --no-default-features)" 8
rm -rf target/compile_times
row 'quickstart from nothing' "$(seconds cargo build --release -p quickstart --target-dir target/compile_times)" 60
rm -rf target/compile_times
row 'tests of the README from nothing' "$(seconds cargo test --target-dir target/compile_times)" 600
rm -rf target/compile_times
