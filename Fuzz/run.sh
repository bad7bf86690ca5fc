#!/bin/sh
# Fuzzes one target: Fuzz/run.sh parse|check|evaluate [RUNS] [more options of libFuzzer]
#
# SANITIZE=address builds with the address sanitizer, which also finds leaks, and is slower.
# What is found stays in .build-fuzz*/: inputs that reach new code in corpus/, those that fail in
# crashes/. A failing input becomes a test in Tests/CELTests.
set -eu
cd "$(dirname "$0")/.."

target=${1:?"which target: parse, check or evaluate"}
runs=${2:-1000000}
[ $# -lt 2 ] && shift $# || shift 2

build=.build-fuzz
[ -z "${SANITIZE:-}" ] || build=$build-$SANITIZE

# gold cannot link what the sanitizers make.
DISCERN_FUZZ=1 swift build --configuration release --scratch-path "$build" --product cel-fuzz \
	${SANITIZE:+--sanitize="$SANITIZE"} -Xswiftc -sanitize=fuzzer -Xswiftc -use-ld=lld

# One seed to a line; tabs stand for the lines of an input.
seeds=$build/seeds
corpus=$build/corpus/$target
mkdir -p "$seeds" "$corpus" "$build/crashes"
number=0
while IFS= read -r line; do
	number=$((number + 1))
	printf '%s' "$line" | tr '\t' '\n' >"$seeds/$number"
done <Fuzz/seeds.txt

# Swift's own report of a crash would keep libFuzzer from writing the input down.
export SWIFT_BACKTRACE=enable=no
LSAN_OPTIONS=suppressions=Fuzz/leaks.supp:print_suppressions=0 FUZZ_TARGET=$target \
	exec "$build/release/cel-fuzz" -runs="$runs" -max_len=384 -timeout=10 \
	-rss_limit_mb=2048 -dict=Fuzz/cel.dict -artifact_prefix="$build/crashes/$target-" \
	-print_final_stats=1 "$@" "$corpus" "$seeds"
