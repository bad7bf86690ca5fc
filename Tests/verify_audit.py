#!/usr/bin/env python3
"""Verifies entries of the ledger without any code of the service.

usage: verify_audit.py [FILE...]        standard input if no file is named

Reads what `discern audit list -f json --limit 1000` prints, one entry a line, the oldest
first; pages are given one after another. docs/audit-format.md says what is checked and why.
Exit status: 0 all is as it should be, 1 something is not, 2 a file or a line cannot be read,
or there is no entry at all.
"""
import fileinput
import hashlib
import json
import sys

DECODER = json.JSONDecoder()


def sha256(*parts):
    return hashlib.sha256(b"".join(parts)).digest()


def members(line):
    """The members of one object, each as the exact bytes that stand in the line."""
    place, found = 1, {}
    while line[place - 1] != "}":
        name, place = DECODER.raw_decode(line, place)
        start = place + 1
        _, place = DECODER.raw_decode(line, start)
        found[name] = line[start:place].encode()
        place += 1
    return found


def faults(entry, expected):
    """What is wrong with one entry; `expected` is its number, None if any will do."""
    leaf = sha256(b"\x00", entry["envelope"])
    if leaf.hex() != json.loads(entry["leafHash"]):
        yield "the leaf hash is not that of the envelope"
    envelope = json.loads(entry["envelope"])
    if envelope["version"] != 1:
        yield f"version {envelope['version']} is not known"
    if expected not in (None, envelope["sequence"]):
        yield f"{expected} should stand here"
    if "erased" not in entry:
        salt = bytes.fromhex(json.loads(entry["salt"]))
        if sha256(salt, entry["payload"]).hex() != envelope["payload"]:
            yield "the digest is not that of salt and payload"


def main(lines):
    subtrees, count, first, last, at, broken = [], 0, None, None, "", False
    for line in filter(str.strip, lines):
        entry = members(line.strip())
        envelope = json.loads(entry["envelope"])
        wrong = list(faults(entry, last and last + 1))
        if envelope["at"] < at:
            wrong.append("its time lies before that of the entry above it")
        first, last, at = first or envelope["sequence"], envelope["sequence"], envelope["at"]
        for fault in wrong:
            print(f"entry {last}: {fault}")
        broken = broken or bool(wrong)
        node, count = sha256(b"\x00", entry["envelope"]), count + 1
        size = 1
        while subtrees and subtrees[-1][0] == size:
            node, size = sha256(b"\x01", subtrees.pop()[1], node), size * 2
        subtrees.append((size, node))
    if not count:
        # An empty list proves nothing: it may be a list that could not be made.
        print("no entries to verify", file=sys.stderr)
        return 2
    root = subtrees.pop()[1]
    while subtrees:
        root = sha256(b"\x01", subtrees.pop()[1], root)
    print(f"{count} entries, {first} to {last}")
    print(f"root {root.hex()}" if first == 1 else "no root: the list does not begin at 1")
    return 1 if broken else 0


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        sys.exit(0)
    try:
        sys.exit(main(fileinput.input(encoding="utf-8")))
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        print(f"a line cannot be read: {error!r}", file=sys.stderr)
        sys.exit(2)
