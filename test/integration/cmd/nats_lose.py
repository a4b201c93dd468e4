#!/usr/bin/env python3
"""Deletes each N-th message of a JetStream stream, as a bus does that loses what it has acknowledged:
nats_lose.py PORT USER PASSWORD STREAM N"""
import json
import sys

from nats_link import ask, stream

state = ask(f"$JS.API.STREAM.INFO.{stream}", b"")["state"]
for number in range(state["first_seq"], state["last_seq"] + 1, int(sys.argv[5])):
    answer = ask(f"$JS.API.STREAM.MSG.DELETE.{stream}", json.dumps({"seq": number}).encode())
    if not answer.get("success"):
        sys.exit(f"message {number}: {answer}")
