"""Prints labels on a printer that does NOT deduplicate: two requests are two labels.

One call comes as a line of JSON on stdin, progress and the answer go as lines of JSON to stdout (docs/REMOTE-AGENTS.md).
What is to be logged goes to stderr. Every label carries the idempotency key, by which a probe finds it and an undo voids it.
Debian's python3 is all it needs.
"""

import json
import os
import sys
import time

FOLDER = os.environ.get("LABEL_PRINTER", ".steadfast/labels")
JOURNAL = os.path.join(FOLDER, "journal.jsonl")
# A pretence of work, so that it can be watched and interrupted.
PRINT_SECONDS = int(os.environ.get("LABEL_PRINT_MS", "0")) / 1000


def say(line):
    print(json.dumps(line), flush=True)


def record(entry):
    """The journal only grows; one write is one line."""
    os.makedirs(FOLDER, exist_ok=True)
    with open(JOURNAL, "a", encoding="utf-8") as journal:
        journal.write(json.dumps(entry) + "\n")


def labels_of(key):
    """The labels under an idempotency key that were not voided."""
    if not os.path.exists(JOURNAL):
        return []
    with open(JOURNAL, encoding="utf-8") as journal:
        entries = [json.loads(line) for line in journal if line.endswith("\n")]
    own = [entry for entry in entries if entry["key"] == key]
    voided = {entry["voids"] for entry in own if "voids" in entry}
    return [entry["label"] for entry in own if "label" in entry and entry["label"] not in voided]


def execute(call):
    if call["input"]["address"].strip() == "":
        return {"answer": "permanent", "message": "there is no address to print"}
    say({"progress": 1})
    time.sleep(PRINT_SECONDS)
    if time.time() * 1000 >= call["deadlineAt"]:
        return {"answer": "transient", "message": "there was no time left to print"}
    label = f"{call['idempotencyKey']}/{os.getpid()}"
    record({"key": call["idempotencyKey"], "label": label, "parcel": call["input"]["parcel"]})
    say({"progress": 2})
    time.sleep(PRINT_SECONDS)
    return {"answer": "done", "output": {"label": label}}


def probe(call):
    labels = labels_of(call["idempotencyKey"])
    return {"answer": "done", "output": {"label": labels[0]}} if labels else {"answer": "notDone"}


def undo(call):
    """By idempotency key, not by output: what an attempt of unknown outcome has printed is voided as well."""
    for label in labels_of(call["idempotencyKey"]):
        record({"key": call["idempotencyKey"], "voids": label})
    return {"answer": "done"}


call = json.loads(sys.stdin.readline())
say({"execute": execute, "probe": probe, "undo": undo}[call["call"]](call))
