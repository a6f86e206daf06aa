"""Engraves as often as it is asked. The first attempt hangs, before or after its work, until something kills it."""

import json
import os
import sys
import threading

call = json.loads(sys.stdin.readline())
journal = call["input"]["journal"]


def write(what):
    with open(journal, "a", encoding="utf-8") as file:
        file.write(f"{what} {call['attempt']} {os.getpid()}\n")


def hang():
    write("hangs")
    threading.Event().wait()


def answer(**what):
    print(json.dumps(what), flush=True)


if call["call"] == "probe":
    with open(journal, encoding="utf-8") as file:
        engraved = [line.split() for line in file if line.startswith("engraved")]
    if engraved:
        answer(answer="done", output={"attempt": int(engraved[0][1])})
    else:
        answer(answer="notDone")
else:
    is_first = call["attempt"] == 1
    if is_first and call["input"]["hangs"] == "before":
        hang()
    write("engraved")
    if is_first:
        hang()
    answer(answer="done", output={"attempt": call["attempt"]})
