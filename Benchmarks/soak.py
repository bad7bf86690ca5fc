#!/usr/bin/env python3
"""Loads a server with ever new subjects, devices and requests, and watches its memory.

The run fails if resident memory grows by 5 % or more from the first sample after minute 2 on.
Needs nothing but the standard library and a C compiler.
"""

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SAMPLE = 5  # seconds
WARM = 120  # seconds
LIMIT = 1.05
WIDTH = 60


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--minutes", type=float, default=10, help="in all, the first two to warm up (10)")
    parser.add_argument("--discern", default=os.path.join(ROOT, ".build/release/discern"))
    parser.add_argument("--data", help="where the data folder is made (/var/tmp)", default="/var/tmp")
    parser.add_argument("--connections", type=int, default=64)
    return parser.parse_args()


class Server:
    """The real binary on a folder of its own."""

    def __init__(self, discern, folder):
        self.errors = open(os.path.join(folder, "err"), "w+")
        self.process = subprocess.Popen(
            [discern, "serve", "--dev", "--data", os.path.join(folder, "data"),
             "--policies", os.path.join(ROOT, "Policies"), "--listen", "127.0.0.1:0"],
            stdout=subprocess.PIPE, stderr=self.errors, text=True)
        self.key = self.url = None
        for line in self.process.stdout:
            if line.startswith("DISCERN_KEY="):
                self.key = line.split("=", 1)[1].strip()
            if line.startswith("listening on "):
                self.url = line.split()[-1]
                break
        if not self.url:
            self.errors.seek(0)
            sys.exit("soak: the server does not start:\n" + self.errors.read())

    def resident(self):
        """Bytes of memory."""
        with open(f"/proc/{self.process.pid}/status") as file:
            return 1024 * int(re.search(r"VmRSS:\s+(\d+)", file.read())[1])

    def evaluations(self):
        with urllib.request.urlopen(self.url + "/metrics") as answer:
            text = answer.read().decode()
        found = re.findall(r"^discern_evaluations_total\S* (\S+)$", text, re.M)
        return sum(int(float(number)) for number in found)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)


def megabytes(count):
    return f"{count / 1e6:.1f} MB"


def chart(samples, start):
    """At most some thirty lines."""
    most = max(resident for _, resident, _ in samples)
    step = max(1, len(samples) // 30)
    for place, (at, resident, subjects) in enumerate(samples):
        if place % step and place not in (start, len(samples) - 1):
            continue
        bar = "#" * round(WIDTH * resident / most)
        mark = "  <- measured from here" if place == start else ""
        print(f"{at:6.0f} s {subjects:9d} subjects {megabytes(resident):>10}  {bar}{mark}")


def soak(options, folder):
    subprocess.run(["make", "-s", "-C", os.path.join(ROOT, "Benchmarks"), "build/load"], check=True)
    server = Server(options.discern, folder)
    load = subprocess.Popen(
        [os.path.join(ROOT, "Benchmarks/build/load"), server.url, "--key", server.key, "--fresh",
         "--connections", str(options.connections), "--seconds", "1000000", "--warmup", "0"],
        stdout=subprocess.DEVNULL)
    samples, start, begin = [], None, time.monotonic()
    try:
        while True:
            time.sleep(SAMPLE)
            at = time.monotonic() - begin
            if load.poll() is not None or server.process.poll() is not None:
                sys.exit("soak: the load or the server ended early")
            samples.append((at, server.resident(), server.evaluations()))
            if len(samples) % (60 // SAMPLE) == 0:
                print(f"soak: {at:.0f} s, {samples[-1][2]} subjects", flush=True)
            if start is None:
                if at >= WARM:
                    start = len(samples) - 1
                    print(f"soak: warm after {at:.0f} s, {samples[-1][2]} subjects", flush=True)
            elif at >= 60 * options.minutes:
                break
    finally:
        load.kill()
        load.wait()
    status = server.stop()
    chart(samples, start)
    warm = samples[start][1]
    growth = max(sample[1] for sample in samples[start:]) / warm
    print(f"resident memory: {megabytes(warm)} when warm, at most {growth:.3f} times that after")
    if status != 0:
        sys.exit(f"soak: the server ended with {status}")
    if growth >= LIMIT:
        sys.exit(f"soak: it grew by {100 * (growth - 1):.1f} %")


def main():
    options = arguments()
    folder = tempfile.mkdtemp(prefix="discern-soak.", dir=options.data)
    try:
        soak(options, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


main()
