#!/usr/bin/env python3
"""http2_server.py KEY CERT: an HTTP/2 server that does what the path of a request says. Prints its port, then serves until it is
killed. /count says how many requests came before, by any connection."""
import socket
import ssl
import sys
import threading
import time

try:
    import h2.config
    import h2.connection
    import h2.events
    import h2.exceptions
    import h2.settings
except ModuleNotFoundError:  # another Python is first in the path
    import os
    if sys.executable != '/usr/bin/python3':
        os.execv('/usr/bin/python3', ['/usr/bin/python3', *sys.argv])
    raise

PIECE = b'x' * 1000
counted = {'connections': 0, 'requests': 0}
lock = threading.Lock()


class Connection:
    def __init__(self, wire, number):
        self.wire, self.number, self.streams = wire, number, 0
        self.h2 = h2.connection.H2Connection(config=h2.config.H2Configuration(client_side=False, validate_outbound_headers=False))
        self.h2.initiate_connection()

    def flush(self):
        self.wire.sendall(self.h2.data_to_send())

    def raw(self, kind, flags, stream, payload):
        self.flush()
        self.wire.sendall(len(payload).to_bytes(3, 'big') + bytes([kind, flags]) + stream.to_bytes(4, 'big') + payload)

    def head(self, stream, *more, end=False):
        self.h2.send_headers(stream, [(':status', '200'), *more], end_stream=end)

    def whole(self, stream, text):
        self.head(stream, ('x-mark', 'two'))
        self.h2.send_data(stream, text.encode(), end_stream=True)

    def serve(self):
        try:
            self.flush()
            while data := self.wire.recv(65536):
                for event in self.h2.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        with lock:
                            counted['requests'] += 1
                        self.streams += 1
                        path = dict(event.headers)[b':path' if isinstance(event.headers[0][0], bytes) else ':path']
                        path = path.decode() if isinstance(path, bytes) else path
                        getattr(self, 'do_' + path[1:].partition('?')[0], self.do_)(event.stream_id)
                self.flush()
        except (OSError, h2.exceptions.ProtocolError):
            pass
        finally:
            self.wire.close()

    def do_(self, stream):
        self.whole(stream, f'connection {self.number} stream {self.streams}')

    def do_count(self, stream):
        self.whole(stream, str(counted['requests'] - 1))

    # ---- streams that end early ----

    def do_refuse(self, stream):
        self.h2.reset_stream(stream, 2)  # INTERNAL_ERROR

    def do_refused_stream(self, stream):
        self.h2.reset_stream(stream, 7)  # REFUSED_STREAM: nothing was done, the client may ask again

    def do_reset_in_body(self, stream):
        self.head(stream, ('content-length', '2000'))
        self.h2.send_data(stream, PIECE)
        self.h2.reset_stream(stream, 8)

    def do_reset_without_length(self, stream):
        self.head(stream)
        self.h2.send_data(stream, PIECE)
        self.h2.reset_stream(stream, 0)  # NO_ERROR, before the end

    def do_reset_after_end(self, stream):
        self.whole(stream, 'whole')
        self.raw(3, 0, stream, b'\0\0\0\0')

    def do_short(self, stream):
        self.head(stream, ('content-length', '2000'))
        self.h2.send_data(stream, PIECE)
        self.raw(0, 1, stream, b'')

    # ---- connections that end early ----

    def do_goaway(self, stream):
        self.h2.close_connection(0, last_stream_id=0)  # none was looked at
        self.flush()
        self.wire.close()

    def do_goaway_in_body(self, stream):
        self.head(stream, ('content-length', '2000'))
        self.h2.send_data(stream, PIECE)
        self.h2.close_connection(0, last_stream_id=stream)
        self.flush()
        self.wire.close()

    def do_goaway_after(self, stream):
        self.whole(stream, 'whole')
        self.h2.close_connection(0, last_stream_id=stream)

    def do_cut(self, stream):
        self.head(stream)
        self.h2.send_data(stream, PIECE)
        self.flush()
        self.wire.close()

    # ---- silence, and noise without progress ----

    def do_stall(self, stream):
        self.head(stream, ('content-length', '2000'))
        self.h2.send_data(stream, PIECE)

    def do_wedge(self, stream):
        """The whole connection stands still, and stays open."""
        time.sleep(30)

    def do_no_window(self, stream):
        """A body that is sent here is never taken: no WINDOW_UPDATE comes."""

    def noise(self, frame):
        for _ in range(200):
            frame()
            time.sleep(0.02)

    def do_pings(self, stream):
        self.head(stream)
        self.noise(lambda: self.raw(6, 0, 0, b'\0' * 8))

    def do_settings(self, stream):
        self.head(stream)
        self.noise(lambda: self.raw(4, 0, 0, b''))

    def do_empty_data(self, stream):
        self.head(stream)
        self.noise(lambda: self.raw(0, 0, stream, b''))

    def do_continuations(self, stream):
        """A head without an end."""
        self.raw(1, 0, stream, b'\x88')
        for _ in range(3000):
            self.raw(9, 0, stream, b'\x00\x03x-a\x7f\x80\x1e' + b'v' * 157)

    def do_many_headers(self, stream):
        self.h2.send_headers(stream, [(':status', '200')] + [(f'x-{i}', 'v' * 100) for i in range(140)], end_stream=True)

    def do_garbage(self, stream):
        self.flush()
        self.wire.sendall(b'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')

    def do_unknown_stream(self, stream):
        self.raw(0, 1, stream + 100, b'for nobody')


def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[1])
    context.set_alpn_protocols(['h2'])
    listener = socket.create_server(('127.0.0.1', 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        wire, _ = listener.accept()
        try:
            wire = context.wrap_socket(wire, server_side=True)
        except (OSError, ssl.SSLError):
            continue
        with lock:
            counted['connections'] += 1
            number = counted['connections']
        threading.Thread(target=Connection(wire, number).serve, daemon=True).start()


main()
