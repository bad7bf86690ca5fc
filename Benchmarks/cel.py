#!/usr/bin/env python3
"""Measures the CEL evaluator beside two others and prints ratios.

usage: cel.py [ROUNDS]        ROUNDS is 5 unless given, and odd

Each round runs all three one after the other, in an order that turns from round to round; a figure
is the median over the rounds. From every time the time of the expression `true` in the same form
is taken off. The peers come from PyPI into a folder of their own (Benchmarks/build/venv).

Exit status 1 if Discern is slower than is promised: on dyn maps 8 times as fast as the C++ runtime
in the geometric mean and 4 times on each expression, with declared types 16 times in the mean.
"""

import json
import math
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE / "build"
DATA = HERE / "CEL" / "expressions.json"
PEERS = ["cel-expr-python==0.1.3", "common-expression-language==0.10.0", "protobuf==7.36.2"]
# What each implementation's time is called in its lines: for the C++ runtime a 500th of an
# evaluation of 500 rounds, since a call from Python binds its inputs anew.
TIME = {"discern": "ns", "cpp": "ns", "rust": "call"}


def prepare():
    BUILD.mkdir(exist_ok=True)
    subprocess.run(
        ["gcc", "-O2", "-shared", "-fPIC", "-Wall", "-Wextra", "-Werror"]
        + ["-o", BUILD / "count.so", HERE / "CEL" / "count.c"],
        check=True,
    )
    python = BUILD / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", BUILD / "venv"], check=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *PEERS], check=True)
    subprocess.run(
        ["swift", "build", "-c", "release", "--product", "cel-benchmark"],
        cwd=HERE.parent,
        check=True,
        stdout=sys.stderr,
    )
    peer = [python, HERE / "CEL" / "peer.py"]
    return {
        "discern": [HERE.parent / ".build" / "release" / "cel-benchmark", DATA],
        "cpp": [*peer, "cpp", DATA],
        "rust": [*peer, "rust", DATA],
    }


def measure(commands, rounds):
    """{(who, form, name): [line of each round]}"""
    lines = {}
    environment = {**os.environ, "LD_PRELOAD": str(BUILD / "count.so")}
    for number in range(rounds):
        order = list(commands)
        order = order[number % 3 :] + order[: number % 3]
        for who in order:
            print(f"round {number + 1} of {rounds}: {who}", file=sys.stderr)
            output = subprocess.run(
                commands[who], env=environment, check=True, stdout=subprocess.PIPE, text=True
            ).stdout
            for line in map(json.loads, output.splitlines()):
                lines.setdefault((who, line["form"], line["name"]), []).append(line)
    return lines


def median(values):
    return sorted(values)[len(values) // 2]


class Figures:
    def __init__(self, lines):
        self.lines = lines
        self.names = [
            name for (who, form, name) in lines if (who, form) == ("cpp", "dyn") and name != "floor_true"
        ]

    def time(self, who, form, name):
        """Nanoseconds of one evaluation, less those of `true`: of each round, then the median."""
        key = TIME[who]
        rounds = zip(self.lines[who, form, name], self.lines[who, form, "floor_true"])
        return median([line[key] - floor[key] for line, floor in rounds])

    def floor(self, who, form):
        return self.median(who, form, "floor_true", TIME[who])

    def median(self, who, form, name, key):
        values = [line[key] for line in self.lines[who, form, name] if line[key] is not None]
        return median(values) if values else float("nan")


def mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def table(title, head, rows):
    print(f"\n{title}\n")
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = [row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]
        print("  " + "  ".join(cells))


def report(figures):
    promises = []
    ratios = {}
    for form in ("dyn", "declared"):
        rows = []
        for name in figures.names:
            ours = figures.time("discern", form, name)
            cpp = figures.time("cpp", "dyn", name)
            rust = figures.time("rust", "dyn", name)
            ratios[form, name] = cpp / ours
            allocations = figures.median("discern", form, name, "allocations")
            rows.append(
                [name, f"{ours:.0f}", f"{cpp:.0f}", f"{rust:.0f}", f"{cpp / ours:.1f}"]
                + [f"{rust / ours:.1f}", f"{allocations:.0f}"]
            )
        floors = [figures.floor(*pair) for pair in [("discern", form), ("cpp", "dyn"), ("rust", "dyn")]]
        rows.append(["(floor)", *[f"{floor:.0f}" for floor in floors], "", "", ""])
        head = ["expression", "discern ns", "C++ ns", "Rust ns", "C++/discern", "Rust/discern", "allocations"]
        table({"dyn": "dyn maps", "declared": "declared types"}[form], head, rows)
        all_of_them = [ratios[form, name] for name in figures.names]
        without = [ratios[form, name] for name in figures.names if name != "regex_matches"]
        print(
            f"\n  C++/discern: geometric mean {mean(all_of_them):.1f}, without regex_matches"
            f" {mean(without):.1f}, least {min(all_of_them):.1f}"
        )
        promises.append(mean(all_of_them) >= {"dyn": 8, "declared": 16}[form])
        promises.append(form == "declared" or min(all_of_them) >= 4)
    rows = []
    for name in ["floor_true", *figures.names]:
        rows.append(
            [name]
            + [f"{figures.median(who, 'dyn', name, 'compile') / 1000:.1f}" for who in TIME]
            + [f"{figures.median(who, 'dyn', name, 'bytes'):.0f}" for who in TIME]
        )
    head = ["expression", "discern us", "C++ us", "Rust us", "discern B", "C++ B", "Rust B"]
    table("compiling: time, and memory that a program keeps (the Rust one keeps the tree)", head, rows)
    bind = {
        "discern, dyn": ("discern", "dyn"),
        "discern, declared": ("discern", "declared"),
        "C++ from Python": ("cpp", "dyn"),
        "Rust from Python": ("rust", "dyn"),
    }
    table(
        "binding all inputs once",
        ["", "ns"],
        [[label, f"{figures.median(*pair, 'floor_true', 'bind'):.0f}"] for label, pair in bind.items()],
    )
    return all(promises)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    commands = prepare()
    if not report(Figures(measure(commands, rounds))):
        sys.exit("cel.py: slower than is promised")


if __name__ == "__main__":
    main()
