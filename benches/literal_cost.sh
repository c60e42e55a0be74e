#!/bin/sh
# Instructions per operation with a constant operand, by callgrind; see benches/literal_cost.rs. Needs valgrind.
set -eu
cd "$(dirname "$0")/.."
program=$(cargo bench -p differentiation-interface-benches --bench literal_cost --no-run 2>&1 | sed -n 's/.*literal_cost.*(\(.*\))$/\1/p')
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
# 32 operations per evaluation; the difference of two runs excludes start-up.
for way in "f64" "forward_diff literals" "forward_diff constants" "textbook literals" "textbook constants" \
    "reverse_diff literals" "reverse_diff constants"; do
    few=$(count "$way" 1000)
    many=$(count "$way" 2000)
    awk -v way="$way" -v difference=$((many - few)) 'BEGIN { printf "%-24s %6.1f\n", way, difference / 32000 }'
done
