"""Counts again what `discern backtest` counts, with nothing of its code.

usage: recount_backtest.py FOLDER MEDIUM HIGH MATURE-DAYS [SINCE]

FOLDER is a data folder with evaluations by the shipped payments policy. The candidate is that
policy with these thresholds; its rules and windows are written down here once more. Prints the
table by label as JSON.
"""

import json
import sqlite3
import sys
from collections import defaultdict
from datetime import datetime, timedelta
from fractions import Fraction


def instant(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


def raises(event, earlier, outcome):
    """Whether one of the enforced rules that raise friction matches."""
    attributes = event["attributes"]
    now = event["at"]
    hour = sum(1 for e in earlier if e["at"] > now - timedelta(hours=1))
    day = [
        e
        for e in earlier
        if e["at"] > now - timedelta(hours=24)
        and e["attributes"]["currency"] == attributes["currency"]
    ]
    spent = float(sum(Fraction(e["attributes"]["amount"]) for e in day))
    payees = {
        e["attributes"]["payee"]["digest"]
        for e in earlier
        if e["at"] > now - timedelta(days=7) and "payee" in e["attributes"]
    }
    large_to_new = attributes["amount"] >= 500 and attributes["newPayee"]
    return (
        (outcome == "high" and large_to_new)
        or (outcome == "high" and not large_to_new)
        or (outcome in ("unknown", "medium") and hour > 3)
        or spent + attributes["amount"] > 2000
        or (len(payees) >= 5 and outcome != "unknown")
        or (outcome == "high" and spent > 5000)
    )


def current(labels):
    """The label that counts, of [(found at, number, id, value, retracted id)]."""
    retracted = {label[4] for label in labels if label[4]}
    alive = [label for label in labels if label[3] != "retracted" and label[2] not in retracted]
    return max(alive)[3] if alive else None


NAMES = {
    "confirmedFraud": "fraud",
    "suspectedFraud": "suspected",
    "confirmedLegitimate": "legitimate",
    None: "unlabelled",
}


def main():
    folder, medium, high = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    mature = timedelta(days=int(sys.argv[4]))
    since = instant(sys.argv[5]) if len(sys.argv) > 5 else None
    database = sqlite3.connect(f"file:{folder}/discern.db?mode=ro", uri=True)
    labels = defaultdict(list)
    events = defaultdict(list)
    outcomes = []
    last = None
    rows = database.execute(
        "SELECT sequence, kind, payload FROM entries WHERE kind IN ('evaluation', 'label')"
        " ORDER BY sequence"
    )
    for sequence, kind, payload in rows:
        entry = json.loads(payload)
        command, result = entry["command"], entry["result"]
        received = instant(result["receivedAt"])
        last = max(last, received) if last else received
        if kind == "label":
            labels[command["evaluationID"]].append(
                (
                    instant(command["occurredAt"]),
                    sequence,
                    command["labelID"],
                    command["label"],
                    command.get("retracts"),
                )
            )
            continue
        score = result["acting"].get("score")
        outcome = "unknown"
        if result["authorization"] == "authorized" and score is not None:
            outcome = "high" if score >= high else "medium" if score >= medium else "unknown"
        event = {"at": received, "attributes": command["attributes"]}
        earlier = events[command["subject"]]
        if since is None or received >= since:
            outcomes.append(
                (
                    result["evaluationID"],
                    received,
                    result["decision"]["friction"] == "increased",
                    raises(event, earlier, outcome),
                )
            )
        earlier.append(event)
    table = {
        name: {"letThrough": 0, "newlyHeld": 0, "newlyLetThrough": 0, "held": 0}
        for name in ["fraud", "suspected", "legitimate", "unlabelled", "tooYoung"]
    }
    column = {
        (False, False): "letThrough",
        (False, True): "newlyHeld",
        (True, False): "newlyLetThrough",
        (True, True): "held",
    }
    for evaluation, received, then, now in outcomes:
        label = NAMES[current(labels[evaluation])]
        if received > last - mature:
            label = "tooYoung"
        table[label][column[then, now]] += 1
    json.dump(table, sys.stdout)


main()
