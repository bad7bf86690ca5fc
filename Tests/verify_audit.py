#!/usr/bin/env python3
"""Verifies entries, checkpoints and proofs of the ledger without any code of the service.

usage: verify_audit.py [--vkey VKEY]... [--checkpoint FILE]... [FILE...]

Standard input is read if no file is named. A line is either an entry, as `discern audit
export` prints them (the oldest first), or a proof, as `discern
audit proof` and `discern audit consistency` print them. With --vkey the signatures of checkpoints
are verified, and each root of a proof must stand in one; --checkpoint names files with more of
them, which entries are compared with, too. docs/audit-format.md says what is checked and why.
Exit status: 0 all is as it should be, 1 something is not, 2 a file or a line cannot be read,
or there is nothing at all.
"""
import base64
import fileinput
import getopt
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
    if "erased" not in entry:  # else a later erasure has to name it: see main
        salt = bytes.fromhex(json.loads(entry["salt"]))
        if sha256(salt, entry["payload"]).hex() != envelope["payload"]:
            yield "the digest is not that of salt and payload"


# Ed25519 (RFC 8032), for verifying alone: slow and plain.
P = 2**255 - 19
ORDER = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, -1, P) % P


def add(a, b):
    """The sum of two points, as (x, y) with a denominator: (X, Y, Z, T)."""
    m, n = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    c, d = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(number, point):
    product = (0, 1, 1, 0)
    while number:
        if number & 1:
            product = add(product, point)
        point, number = add(point, point), number >> 1
    return product


def point(data):
    """The point of 32 bytes, None if there is none."""
    y = int.from_bytes(data, "little")
    sign, y = y >> 255, y & (2**255 - 1)
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    if x * x % P != square:
        x = x * pow(2, (P - 1) // 4, P) % P
    if y >= P or x * x % P != square or (x == 0 and sign):
        return None
    x = P - x if x & 1 != sign else x
    return x, y, 1, x * y % P


BASE = point((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def is_signed(key, message, signature):
    a, r = point(key), point(signature[:32])
    s = int.from_bytes(signature[32:], "little")
    if a is None or r is None or len(signature) != 64 or s >= ORDER:
        return False
    digest = hashlib.sha512(signature[:32] + key + message).digest()
    left, right = times(s, BASE), add(r, times(int.from_bytes(digest, "little") % ORDER, a))
    return all((left[i] * right[2] - right[i] * left[2]) % P == 0 for i in (0, 1))


def verifier(text):
    """Name, id and key of a line `name+id+base64`."""
    name, key_id, data = text.strip().split("+", 2)
    data = base64.b64decode(data, validate=True)
    if data[0] != 1 or len(data) != 33:
        raise ValueError("not a key of Ed25519")
    if sha256(name.encode() + b"\n" + data).hex()[:8] != key_id:
        raise ValueError("the id is not that of the key")
    return name, bytes.fromhex(key_id), data[1:]


def checkpoint(note, keys):
    """Size and root of a signed note; None if none of the keys signed it. Without keys any will do."""
    text, signatures = note[: note.rindex("\n\n") + 1], note[note.rindex("\n\n") + 2 :]
    origin, size, root = text.split("\n")[:3]
    good = not keys
    for line in signatures.splitlines():
        dash, name, data = line.split(" ")
        data = base64.b64decode(data, validate=True)
        for known, key_id, key in keys:
            if (dash, name, data[:4]) == ("\u2014", known, key_id) and known == origin:
                good = good or is_signed(key, text.encode(), data[4:])
    return (int(size), base64.b64decode(root, validate=True)) if good else None


def notes(text):
    """The notes of a file: of one, or of a history, in which an empty line follows each."""
    body = ""
    for block in text.split("\n\n"):
        if block.lstrip("\n").startswith("\u2014 "):
            yield body + "\n\n" + block.strip("\n") + "\n"
        body = block.strip("\n")


def inclusion(leaf, index, size, path):
    """The root that a path leads to from leaf `index`, from 0 (RFC 9162, 2.1.3.2)."""
    last, node = size - 1, leaf
    for sibling in path:
        if last == 0:
            return None
        if index & 1 or index == last:
            node = sha256(b"\x01", sibling, node)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            node = sha256(b"\x01", node, sibling)
        index, last = index >> 1, last >> 1
    return node if last == 0 else None


def consistency(old, old_root, size, path):
    """The two roots that a path leads to (RFC 9162, 2.1.4.2)."""
    if old == size:
        return (old_root, old_root) if not path else None
    if old & (old - 1) == 0:
        path = [old_root] + path
    if not path:
        return None
    index, last = old - 1, size - 1
    while index & 1:
        index, last = index >> 1, last >> 1
    before = after = path[0]
    for sibling in path[1:]:
        if last == 0:
            return None
        if index & 1 or index == last:
            before, after = sha256(b"\x01", sibling, before), sha256(b"\x01", sibling, after)
            while not index & 1 and index:
                index, last = index >> 1, last >> 1
        else:
            after = sha256(b"\x01", after, sibling)
        index, last = index >> 1, last >> 1
    return (before, after) if last == 0 else None


def proof_faults(line, keys, known):
    """What is wrong with a proof."""
    proof, raw = json.loads(line), members(line)
    path, digest = [bytes.fromhex(each) for each in proof["proof"]], lambda name: bytes.fromhex(proof[name])
    if proof["kind"] == "inclusion":
        sequence, size = proof["sequence"], proof["size"]
        leaf, roots = sha256(b"\x00", raw["envelope"]), [(size, digest("root"))]
        if leaf != digest("leafHash") or proof["envelope"]["sequence"] != sequence:
            yield "the leaf is not that of the envelope"
        if not 1 <= sequence <= size or inclusion(leaf, sequence - 1, size, path) != digest("root"):
            yield "it does not lead to the root"
    else:
        old, size = proof["from"], proof["to"]
        roots = [(old, digest("fromRoot")), (size, digest("toRoot"))]
        if not 1 <= old <= size or consistency(old, roots[0][1], size, path) != (roots[0][1], roots[1][1]):
            yield "it does not lead from the one root to the other"
    vouched = dict(known)
    for note in proof["checkpoints"]:
        found = checkpoint(note, keys)
        if found is None:
            yield "a checkpoint is signed by none of the keys"
        else:
            vouched.setdefault(*found)
    for size, root in roots:
        if vouched.get(size, root) != root:
            yield f"the checkpoint of {size} entries has another root"
        elif keys and size not in vouched:
            yield f"nobody vouches for the root of {size} entries"


def main(lines, keys, known):
    subtrees, count, first, last, at, broken, proofs, compared = [], 0, None, None, "", False, 0, 0
    erased = set()

    def root():
        node = subtrees[-1][1]
        for _, left in reversed(subtrees[:-1]):
            node = sha256(b"\x01", left, node)
        return node

    for line in filter(str.strip, lines):
        line = line.strip()
        entry = members(line)
        if "proof" in entry:
            proofs += 1
            for fault in proof_faults(line, keys, known):
                print(f"proof {proofs}: {fault}")
                broken = True
            continue
        envelope = json.loads(entry["envelope"])
        wrong = list(faults(entry, last and last + 1))
        if envelope["at"] < at:
            wrong.append("its time lies before that of the entry above it")
        if "erased" in entry:
            erased.add(envelope["sequence"])
        elif envelope["kind"] == "erasure":
            erased -= {each["sequence"] for each in json.loads(entry["payload"])["result"]["erased"]}
        first, last, at = first or envelope["sequence"], envelope["sequence"], envelope["at"]
        node, count = sha256(b"\x00", entry["envelope"]), count + 1
        size = 1
        while subtrees and subtrees[-1][0] == size:
            node, size = sha256(b"\x01", subtrees.pop()[1], node), size * 2
        subtrees.append((size, node))
        if first == 1 and count in known:
            compared += 1
            if root() != known[count]:
                wrong.append("the root up to here is not that of the checkpoint")
        for fault in wrong:
            print(f"entry {last}: {fault}")
        broken = broken or bool(wrong)
    for sequence in sorted(erased):
        print(f"entry {sequence}: its payload is gone, and no erasure after it names it")
        broken = True
    if not count and not proofs:
        # An empty list proves nothing: it may be a list that could not be made.
        print("nothing to verify", file=sys.stderr)
        return 2
    if proofs:
        print(f"{proofs} proofs")
    if count:
        print(f"{count} entries, {first} to {last}")
        print(f"root {root().hex()}" if first == 1 else "no root: the list does not begin at 1")
        for size in known:
            if size > count or first != 1:
                print(f"the checkpoint of {size} entries reaches further than the list")
                broken = True
        if compared and not broken:
            print(f"{compared} checkpoints agree")
    return 1 if broken else 0


def run(arguments):
    options, files = getopt.gnu_getopt(arguments, "", ["vkey=", "checkpoint="])
    keys = [verifier(value) for name, value in options if name == "--vkey"]
    known = {}
    for name, value in options:
        if name == "--checkpoint":
            with open(value, encoding="utf-8") as file:
                found = [checkpoint(note, keys) for note in notes(file.read())]
            if not found or None in found:
                print(f"{value}: no checkpoint, or one that none of the keys signed")
                return 1
            known.update(found)
    return main(fileinput.input(files, encoding="utf-8"), keys, known)


if __name__ == "__main__":
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__.strip())
        sys.exit(0)
    try:
        sys.exit(run(sys.argv[1:]))
    except getopt.GetoptError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    except OSError as error:
        print(f"{error.filename}: {error.strerror}", file=sys.stderr)
        sys.exit(2)
    except (KeyError, ValueError, IndexError, TypeError) as error:
        print(f"a line cannot be read: {error!r}", file=sys.stderr)
        sys.exit(2)
