#!/bin/sh
# Instructions of a prepared `value_and_gradient_into` at containers over those at a slice, by callgrind; see benches/containers.rs.
# Needs valgrind. `benches/containers.sh [PATTERN]`: the slices, and the rows whose names match an extended regular expression.
set -eu
cd "$(dirname "$0")/.."
program=$(cargo bench -p differentiation-interface-benches --bench containers --features containers --no-run 2>&1 | sed -n 's/.*containers.*(\(.*\))$/\1/p')
# `rep movsb`, by which the C library copies more than 2 KB, counts as one instruction per byte under valgrind: tell it not to.
count() {
    GLIBC_TUNABLES=glibc.cpu.x86_rep_movsb_threshold=1073741824:glibc.cpu.x86_rep_stosb_threshold=1073741824 \
        valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" "$3" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
echo "| point | forward | / slice | tape | / slice | compiled | / slice |"
echo "|---|---|---|---|---|---|---|"
"$program" list | grep -E "^slice( 1000)?$|${1:-.}" | while read -r name; do
    calls=100
    case "$name" in *1000) calls=10 ;; esac
    row="| $name"
    for engine in forward tape compiled; do
        # The difference of two runs excludes start-up and preparation.
        few=$(count "$engine" "$name" $calls)
        many=$(count "$engine" "$name" $((2 * calls)))
        call=$(((many - few) / calls))
        case "$name" in slice | "slice 1000") eval "$engine=$call" ;; esac
        eval "slice=\$$engine"
        row="$row | $call | $(awk "BEGIN { printf \"%.3f\", $call / $slice }")"
    done
    echo "$row |"
done
