#!/bin/sh
# Instructions of a call of forward mode at numbers and arrays, by callgrind; see benches/static_points.rs. Needs valgrind.
set -eu
cd "$(dirname "$0")/.."
program=$(cargo bench -p differentiation-interface-benches --bench static_points --no-run 2>&1 | sed -n 's/.*static_points.*(\(.*\))$/\1/p')
count() {
    valgrind --tool=callgrind --callgrind-out-file=/dev/null "$program" "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : \([0-9]*\).*/\1/p'
}
# The difference of two runs excludes start-up and preparation.
for way in "square by hand" "square unprepared" "square prepared" "square with data" \
    "rosenbrock by hand" "rosenbrock unprepared" "rosenbrock prepared" \
    "W8 second derivative by hand" "W8 second derivative unprepared" "W8 second derivative prepared" \
    "quadrotor in place" "quadrotor array to array"; do
    few=$(count "$way" 1000)
    many=$(count "$way" 2000)
    awk -v way="$way" -v difference=$((many - few)) 'BEGIN { printf "%-34s %7.1f\n", way, difference / 1000 }'
done
