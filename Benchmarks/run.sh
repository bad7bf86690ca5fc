#!/bin/bash
# Measures Discern against the floor and prints the ratio.
#
# usage: run.sh [ROUNDS]        ROUNDS is 5 unless given, and odd
#   DISCERN      the binary       (default .build/release/discern of this repository)
#   POLICIES     the policies     (default Policies)
#   DATA         where the data folders are made; the disk that is measured (default /var/tmp)
#   CONNECTIONS  keep-alive connections (default 64)
#   SUBJECTS     distinct subjects      (default 5000)
#   SECONDS_EACH measured per round     (default 5), after one second of warm-up
#   RATE         requests per second, open loop (default: closed loop)
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
rate=${RATE:+--rate $RATE}

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

# measure NAME LOAD-ARGUMENTS…: one round against the server that is up; appends to NAME.rates.
measure() {
    local name=$1; shift
    local line before after answered
    before=$(ticks)
    if ! line=$("$here/build/load" "$url" --connections "$connections" --subjects "$subjects" \
        --seconds "$seconds" $rate "$@"); then
        echo "run.sh: $name failed: $line" >&2
        tail -n 20 "$work/$name.err" >&2
        exit 1
    fi
    after=$(ticks)
    answered=$(sed 's/.*answered \([0-9]*\).*/\1/' <<<"$line")
    echo "${line%% *}" >>"$work/$name.rates"
    awk -v ticks=$((after - before)) -v hz="$(getconf CLK_TCK)" -v answered="$answered" \
        'BEGIN { printf "%.1f\n", ticks / hz * 1e6 / answered }' >>"$work/$name.cpu"
    printf '%-8s %s  cpu %s us/request\n' "$name" "$line" "$(tail -n 1 "$work/$name.cpu")"
}

# Processor time that the server has used, in clock ticks: unlike the rate it hardly depends on
# what else the machine does. Warm-up and authorisations are in it, for both or a little more for
# discern.
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
    measure discern --key "$key" --authorise
    stop
}

median() { sort -n "$1" | sed -n "$((($(wc -l <"$1") + 1) / 2))p"; }

for round in $(seq "$rounds"); do
    echo "round $round"
    if ((round % 2)); then round_floor; round_discern; else round_discern; round_floor; fi
done
floor=$(median "$work/floor.rates")
ours=$(median "$work/discern.rates")
awk -v ours="$ours" -v floor="$floor" 'BEGIN {
    printf "median of floor %d/s, of discern %d/s: ratio %.2f\n", floor, ours, ours / floor
}'
echo "median processor time: floor $(median "$work/floor.cpu"), discern $(median "$work/discern.cpu") us/request"
