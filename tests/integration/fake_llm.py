"""A server on loopback that speaks the chat protocol of language models, and does what a test tells it."""
import http.server
import json
import threading
import time


class Server:
    """`replies` are given in turn, the last one for ever: each a function of the handler."""

    def __init__(self, *replies):
        self.replies, self.requests = list(replies), []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.requests.append((self.path, dict(self.headers), body.decode()))
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                try:
                    reply(self)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads, self.server.block_on_close = True, False  # who sleeps is not waited for
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self.thread.start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


def raw(data, status=200, kind="application/json", **headers):
    def reply(handler):
        handler.send_response(status)
        handler.send_header("Content-Type", kind)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(data)
    return reply


def says(text):
    return raw(json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode())


def status(code, **headers):
    return raw(b'{"error": {"message": "no"}}', code, **headers)


def slow(seconds):
    def reply(handler):
        time.sleep(seconds)
        says("late")(handler)
    return reply
