"""A receiver of what the program posts, on a free port of this host: a bus, notices of alerts, a collector of traces.

It knows nothing of the program. Who uses it says in `take` what it remembers and what it answers.
"""
import http.server
import threading


class HttpReceiver:
    """Listens until the context ends, or the process. `lock` is for what several requests at a time change."""

    answer = b''  # the body of every answer

    def __init__(self):
        self.lock = threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = 'HTTP/1.1'

            def do_POST(self):
                status = outer.take(self.path, self.headers, self.rfile.read(int(self.headers['Content-Length'])))
                if status is None:
                    return
                self.send_response(status)
                self.send_header('Content-Length', str(len(outer.answer)))
                self.end_headers()
                self.wfile.write(outer.answer)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = f'http://127.0.0.1:{self.server.server_port}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()

    def take(self, path, headers, body):
        """The status to answer with; None: no answer."""
        raise NotImplementedError
