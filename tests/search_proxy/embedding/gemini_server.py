"""A server that answers batchEmbedContents as it is told, and remembers what it was asked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

Answer = tuple[int, dict[str, str], bytes]


class EmbeddingServer:
    """Gives `answers` first, in turn; then every text gets `[length, 1, 0, ...]`, which is no unit vector."""

    def __init__(self) -> None:
        self.address = ""
        self.answers: list[Answer] = []
        self.asked: list[tuple[str, str | None, list[dict[str, Any]]]] = []
        self._lock = threading.Lock()

    def answer(self, path: str, key: str | None, body: bytes) -> Answer:
        """Return status, headers and body for one request."""
        requests = orjson.loads(body)["requests"]
        with self._lock:
            self.asked.append((path, key, requests))
            if self.answers:
                return self.answers.pop(0)
        rows = [_values(each) for each in requests]
        return 200, {}, orjson.dumps({"embeddings": [{"values": row} for row in rows]})


def _values(request: dict[str, Any]) -> list[float]:
    text = request["content"]["parts"][0]["text"]
    return [float(len(text)), 1.0] + [0.0] * (request["outputDimensionality"] - 2)


@contextmanager
def embedding_server() -> Iterator[EmbeddingServer]:
    """Serve on the loopback as long as the block."""
    embedding = EmbeddingServer()

    class Requests(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            status, headers, content = embedding.answer(self.path, self.headers["x-goog-api-key"], body)
            self.send_response(status)
            for name, value in (headers | {"content-length": str(len(content))}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        embedding.address = f"http://127.0.0.1:{server.server_port}"
        yield embedding
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
