"""Engraves as often as it is asked. The first attempt hangs, before or after its work, until something kills it.

One call on stdin, or with `serve <port>` a service that answers each POST.
"""

import http.server
import json
import os
import sys
import threading


def perform(call):
    journal = call["input"]["journal"]

    def write(what):
        with open(journal, "a", encoding="utf-8") as file:
            file.write(f"{what} {call['attempt']} {os.getpid()}\n")

    def hang():
        write("hangs")
        threading.Event().wait()

    if call["call"] == "probe":
        with open(journal, encoding="utf-8") as file:
            engraved = [line.split() for line in file if line.startswith("engraved")]
        if not engraved:
            return {"answer": "notDone"}
        return {"answer": "done", "output": {"attempt": int(engraved[0][1])}}
    is_first = call["attempt"] == 1
    if is_first and call["input"]["hangs"] == "before":
        hang()
    write("engraved")
    if is_first:
        hang()
    return {"answer": "done", "output": {"attempt": call["attempt"]}}


class Engraver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        call = json.loads(self.rfile.read(int(self.headers["content-length"])))
        body = json.dumps(perform(call)).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if sys.argv[1:2] == ["serve"]:
    server = http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[2])), Engraver)
    print(server.server_address[1], flush=True)
    server.serve_forever()
else:
    print(json.dumps(perform(json.loads(sys.stdin.readline()))), flush=True)
