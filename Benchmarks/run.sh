#!/bin/bash
# Measures Discern against the floor and prints the ratios: of the rates, of the 99th percentiles of
# the latency at half of each one's own rate, and of evaluations in batches to single ones.
#
# usage: run.sh [ROUNDS]        ROUNDS is 5 unless given, and odd
#   DISCERN      the binary       (default .build/release/discern of this repository)
#   POLICIES     the policies     (default Policies)
#   DATA         where the data folders are made; the disk that is measured (default /var/tmp)
#   CONNECTIONS  keep-alive connections (default 64)
#   SUBJECTS     distinct subjects      (default 5000)
#   SECONDS_EACH of each measurement    (default 5), after one second of warm-up
#   BATCH        evaluations in a batch call (default 50)
#
# In each round both servers start anew on an empty folder, and they change places from round to
# round, so that a disk or a neighbour that gets slower meets both. Exit status 1 if any request
# failed: a server that refuses work is not fast.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(dirname "$here")
rounds=${1:-5}
discern=${DISCERN:-$root/.build/release/discern}
policies=${POLICIES:-$root/Policies}
connections=${CONNECTIONS:-64}
subjects=${SUBJECTS:-5000}
seconds=${SECONDS_EACH:-5}
batch=${BATCH:-50}

[[ -x $discern ]] || { echo "run.sh: no binary at $discern (swift build -c release)" >&2; exit 2; }
make -s -C "$here" all
work=$(mktemp -d "${DATA:-/var/tmp}/discern-bench.XXXXXX")
server=
stop() {
    [[ -n $server ]] || return 0
    kill "$server" 2>/dev/null || true
    wait "$server" 2>/dev/null || true
    server=
}
trap 'stop; rm -rf "$work"' EXIT

# start NAME COMMAND…: waits for the line that says where it listens.
start() {
    local name=$1; shift
    : >"$work/$name.out"
    "$@" >"$work/$name.out" 2>"$work/$name.err" &
    server=$!
    for _ in $(seq 200); do
        url=$(sed -n 's/^listening on \(http:.*\)$/\1/p' "$work/$name.out")
        [[ -n $url ]] && return 0
        kill -0 "$server" 2>/dev/null || break
        sleep 0.05
    done
    echo "run.sh: $name did not start:" >&2
    cat "$work/$name.err" >&2
    exit 1
}

# load WHAT LOAD-ARGUMENTS…: one measurement of the server that is up; sets `line`.
load() {
    if ! line=$("$here/build/load" "$url" --connections "$connections" --subjects "$subjects" \
        --seconds "$seconds" "${@:2}"); then
        echo "run.sh: $1 failed: $line" >&2
        tail -n 20 "$work/${1%% *}.err" >&2
        exit 1
    fi
    printf '%-18s %s\n' "$1" "$line"
}

# note LIST PATTERN: appends what the pattern's group finds in `line`.
note() { sed "s/^.*$2.*\$/\\1/" <<<"$line" >>"$work/$1"; }

# measure NAME LOAD-ARGUMENTS…: as fast as it goes, then at half of that.
measure() {
    local name=$1 before rate
    before=$(ticks)
    load "$name" "${@:2}"
    rate=${line%% *}
    echo "$rate" >>"$work/$name.rates"
    awk -v ticks=$(($(ticks) - before)) -v hz="$(getconf CLK_TCK)" \
        -v answered="$(sed 's/.*answered \([0-9]*\).*/\1/' <<<"$line")" \
        'BEGIN { printf "%.1f\n", ticks / hz * 1e6 / answered }' >>"$work/$name.cpu"
    load "$name, half" --rate $((rate / 2)) "${@:2}"
    note "$name.p99" 'p99 \([0-9.]*\)'
}

# Processor time that the server has used, in clock ticks: unlike the rate it hardly depends on
# what else the machine does.
ticks() { sed 's/.*) //' "/proc/$server/stat" | awk '{ print $12 + $13 }'; }

round_floor() {
    rm -rf "$work/data" && mkdir "$work/data"
    start floor "$here/build/floor" --data "$work/data"
    measure floor
    stop
}

round_discern() {
    rm -rf "$work/data" && mkdir "$work/data"
    start discern "$discern" serve --dev --data "$work/data" --policies "$policies" \
        --listen 127.0.0.1:0
    local key
    key=$(sed -n 's/^DISCERN_KEY=//p' "$work/discern.out")
    "$here/build/load" "$url" --connections "$connections" --subjects "$subjects" --key "$key" \
        --authorise
    measure discern --key "$key"
    load "discern, batches" --key "$key" --batch "$batch"
    echo "${line%% *}" >>"$work/discern.batches"
    echo "resident: $(awk '/VmRSS/ { print $2 / 1000 }' "/proc/$server/status") MB"
    stop
}

median() { sort -n "$work/$1" | sed -n "$((($(wc -l <"$work/$1") + 1) / 2))p"; }

for round in $(seq "$rounds"); do
    echo "round $round"
    if ((round % 2)); then round_floor; round_discern; else round_discern; round_floor; fi
done
report() { awk "BEGIN { printf \"%-30s floor %s, discern %s: %.2f\\n\", \"$1\", $2, $3, $3 / $2 }"; }
echo "medians of $rounds"
report "requests a second" "$(median floor.rates)" "$(median discern.rates)"
report "processor time, us/request" "$(median floor.cpu)" "$(median discern.cpu)"
report "p99 at half the rate, ms" "$(median floor.p99)" "$(median discern.p99)"
awk -v single="$(median discern.rates)" -v batches="$(median discern.batches)" 'BEGIN {
    printf "%-30s single %d, batches %d: %.2f\n", "evaluations a second", single, batches,
        batches / single
}'
