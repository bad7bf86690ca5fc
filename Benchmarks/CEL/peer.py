"""Measures another implementation of CEL from Python; prints the lines that cel-benchmark prints.

usage: peer.py cpp|rust FILE

cpp is Google's C++ runtime (PyPI: cel-expr-python), rust is cel-rust (common-expression-language).
A call from Python costs more than most expressions, so each is evaluated many times within one
call, as [0, 0, ...].all(i, EXPRESSION) with 500 elements; the time is a 500th of that call.
What one round of the loop costs is the time of `true`, which is measured like the others.
"""

import ctypes
import datetime
import json
import sys
import time

ELEMENTS = 500


def inputs(value, timestamp):
    if isinstance(value, dict):
        if "$ts" in value:
            return timestamp(datetime.datetime.fromisoformat(value["$ts"].replace("Z", "+00:00")))
        return {key: inputs(inner, timestamp) for key, inner in value.items()}
    if isinstance(value, list):
        return [inputs(inner, timestamp) for inner in value]
    return value


class Cpp:
    def __init__(self, variables):
        from cel_expr_python import cel

        # In a map of mixed values it takes times as messages only.
        from google.protobuf import timestamp_pb2

        def message(time):
            return timestamp_pb2.Timestamp(seconds=int(time.timestamp()))

        self.variables = inputs(variables, message)
        self.environment = cel.NewEnv(
            variables={name: cel.Type.DYN for name in variables}
        )

    def compile(self, text):
        return self.environment.compile(text)

    def bind(self):
        return self.environment.Activation(self.variables)

    def evaluate(self, program, bound):
        return program.eval(bound)

    def value(self, result):
        return result.value()


class Rust:
    def __init__(self, variables):
        import cel

        self.cel = cel
        self.variables = inputs(variables, lambda time: time)

    def compile(self, text):
        return self.cel.compile(text)

    def bind(self):
        return self.cel.Context(variables=self.variables)

    def evaluate(self, program, bound):
        return program.execute(bound)

    def value(self, result):
        return result


def median(body, batches=31, least=4_000_000):
    """Nanoseconds of one call: of this thread's processor time, as cel-benchmark counts it."""
    size = 1
    while True:
        start = time.thread_time_ns()
        for _ in range(size):
            body()
        if time.thread_time_ns() - start > least:
            break
        size *= 2
    times = []
    for _ in range(batches):
        start = time.thread_time_ns()
        for _ in range(size):
            body()
        times.append((time.thread_time_ns() - start) / size)
    return sorted(times)[batches // 2]


def live_bytes():
    """What the counter of allocations says, if it was loaded before Python (see count.c)."""
    counter = getattr(ctypes.CDLL(None), "count_live_bytes", None)
    if counter is None:
        return None
    counter.restype = ctypes.c_long
    return counter()


def memory_of(compile):
    compile()
    before = live_bytes()
    kept = [compile() for _ in range(200)]
    after = live_bytes()
    return None if before is None else (after - before) / len(kept)


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("cpp", "rust"):
        sys.exit(__doc__)
    with open(sys.argv[2], encoding="utf-8") as file:
        cases = json.load(file)
    peer = {"cpp": Cpp, "rust": Rust}[sys.argv[1]](cases["vars"])
    bound = peer.bind()
    for case in cases["exprs"]:
        plain = peer.compile(case["cel"])
        looped = peer.compile("[%s].all(i, %s)" % (", ".join(["0"] * ELEMENTS), case["cel"]))
        for program in (plain, looped):
            if peer.value(peer.evaluate(program, bound)) is not case["want"]:
                sys.exit(f"peer.py: {sys.argv[1]}: {case['name']} is not {case['want']}")
        line = {
            "name": case["name"],
            "form": "dyn",
            "ns": median(lambda: peer.evaluate(looped, bound)) / ELEMENTS,
            "call": median(lambda: peer.evaluate(plain, bound), least=200_000),
            "bind": median(peer.bind, least=200_000),
            "compile": median(lambda: peer.compile(case["cel"]), least=200_000),
            "bytes": memory_of(lambda: peer.compile(case["cel"])),
        }
        print(json.dumps(line), flush=True)


main()
