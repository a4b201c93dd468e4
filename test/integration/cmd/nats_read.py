#!/usr/bin/env python3
"""Prints the messages of a JetStream stream (aggregate id, version and body, a line each), by the text protocol of NATS alone:
nats_read.py PORT USER PASSWORD STREAM"""
import base64
import json

from nats_link import ask, stream

last = ask(f"$JS.API.STREAM.INFO.{stream}", b"")["state"]["last_seq"]
for number in range(1, last + 1):
    message = ask(f"$JS.API.STREAM.MSG.GET.{stream}", json.dumps({"seq": number}).encode())["message"]
    head = base64.b64decode(message.get("hdrs", "")).decode().split("\r\n")[1:]
    headers = dict(h.split(":", 1) for h in head if ":" in h)
    print(headers["aggregate_id"].strip(), headers["version"].strip(), base64.b64decode(message.get("data", "")).decode(), sep="\t")
