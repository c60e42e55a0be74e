#!/bin/sh
# Instructions of a call by `AutoThreaded` on one thread over those without the wrapper, by callgrind; see benches/threaded.rs. Needs valgrind.
set -eu
cd "$(dirname "$0")/.."
program=$(cargo bench -p differentiation-interface-benches --features rayon --bench threaded --no-run 2>&1 | sed -n 's/.*threaded.*(\(.*\))$/\1/p')
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" "$3" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
# The difference of two runs excludes preparation and start-up.
for workload in dense rows sparse; do
    for way in serial one; do
        few=$(count "$way" "$workload" 2)
        many=$(count "$way" "$workload" 6)
        eval "$way=$((many - few))"
    done
    awk -v workload="$workload" -v serial="$serial" -v one="$one" 'BEGIN { printf "%-8s %.4f\n", workload, one / serial }'
done
