"""The API of JetStream by the text protocol of NATS alone; the first arguments of the program are PORT USER PASSWORD STREAM."""
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
