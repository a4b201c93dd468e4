#!/usr/bin/env python3
"""Prints the messages of a JetStream stream (aggregate id, version and body, a line each), by the text protocol of NATS alone:
nats_read.py PORT USER PASSWORD STREAM"""
import base64
import json
import socket
import sys

port, user, password, stream = int(sys.argv[1]), *sys.argv[2:5]
link = socket.create_connection(("127.0.0.1", port), timeout=20)
lines = link.makefile("rb")
lines.readline()  # INFO
hello = {"verbose": False, "pedantic": False, "user": user, "pass": password, "headers": True}
link.sendall(b"CONNECT " + json.dumps(hello).encode() + b"\r\nSUB answers 1\r\nPING\r\n")


def ask(subject, body):
    link.sendall(f"PUB {subject} answers {len(body)}\r\n".encode() + body + b"\r\n")
    while True:
        words = lines.readline().split()
        if not words:
            sys.exit("the server has closed the connection")
        if words[0] == b"PING":
            link.sendall(b"PONG\r\n")
        elif words[0] == b"MSG":
            answer = lines.read(int(words[-1]))
            lines.readline()
            return json.loads(answer)
        elif words[0] == b"-ERR":
            sys.exit(" ".join(word.decode() for word in words))


last = ask(f"$JS.API.STREAM.INFO.{stream}", b"")["state"]["last_seq"]
for number in range(1, last + 1):
    message = ask(f"$JS.API.STREAM.MSG.GET.{stream}", json.dumps({"seq": number}).encode())["message"]
    head = base64.b64decode(message.get("hdrs", "")).decode().split("\r\n")[1:]
    headers = dict(h.split(":", 1) for h in head if ":" in h)
    print(headers["aggregate_id"].strip(), headers["version"].strip(), base64.b64decode(message.get("data", "")).decode(), sep="\t")
