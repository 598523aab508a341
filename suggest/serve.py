"""The review page on 127.0.0.1, saving straight to the mapping file.

What keeps others out: the server listens on the loopback address only; every request needs the token that is made for
this one run and stands in the address that is printed; the host must be this address (a page elsewhere that has itself
resolved to 127.0.0.1 says another) and an origin, where one is told, this server. Requests name no files: there is one
page and one file to save to. What is sent are decisions; the text is made here, by the library.

Nobody's work is lost in silence: a page knows the file as it was when it was loaded, and where the file has changed
since, saving is refused until the reviewer says to overwrite it. What this server has not written itself, or what is
overwritten so, is kept beside the file with the ending ``.bak``. Every page holds a connection open; when the last one
is closed, the server ends.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .decisions import parse_decisions
from .errors import LayermapError
from .output import write
from .review import Review, review_text

_MOST_BYTES = 64_000_000  # of one request: decisions on every module of the largest networks
_BEAT = 0.5  # seconds between signs of life on a page's open connection
_PATIENCE = 3.0  # seconds without any page until the server ends: a reload takes less


@dataclass(slots=True)
class Desk:
    """What the server works on: where to save, how to begin a review of the file as it is, and how to draw its page."""

    place: Path
    begin: Callable[[str | None], Review]
    page: Callable[[Review, dict[str, str]], str]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    reviews: dict[str, Review] = field(default_factory=dict)
    written: set[str] = field(default_factory=set)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def opened(self) -> str:
        """The page for the file as it is now."""
        with self.lock:
            revision, text = self._current()
            if revision not in self.reviews:
                self.reviews[revision] = self.begin(text)
            return self.page(self.reviews[revision], {"token": self.token, "revision": revision, "start": revision})

    def save(self, raw: dict[str, Any]) -> tuple[int, dict[str, str]]:
        """Save decisions; the status, and the file's new revision and text or what is wrong."""
        with self.lock:
            review = self.reviews.get(str(raw.get("start")))
            if review is None:
                return HTTPStatus.BAD_REQUEST, {"error": "this page is of another run; reload it"}
            revision, old = self._current()
            if raw.get("revision") != revision and raw.get("force") is not True:
                return HTTPStatus.CONFLICT, {"error": "the file has changed"}
            text = review_text(review, parse_decisions(raw.get("decisions")))
            if old is not None and old != text and (revision not in self.written or raw.get("revision") != revision):
                write(old, f"{self.place}.bak")
            write(text, str(self.place))
            self.written.add(_revision(text))
            return HTTPStatus.OK, {"revision": _revision(text), "text": text}

    def _current(self) -> tuple[str, str | None]:
        try:
            text = self.place.read_bytes().decode("utf-8-sig")
        except FileNotFoundError:
            return "none", None
        except (OSError, UnicodeDecodeError):
            raise LayermapError(str(self.place), "cannot be read", "choose another file to save to") from None
        return _revision(text), text


def _revision(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Server(ThreadingHTTPServer):
    """A server for one desk, at a free port if 0 is given."""

    daemon_threads = True

    def __init__(self, desk: Desk, port: int = 0) -> None:
        self.desk = desk
        self.tabs: set[object] = set()
        self.seen = self.ending = False
        self.left = time.monotonic()
        super().__init__(("127.0.0.1", port), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"

    def service_actions(self) -> None:
        """End when all pages have been closed for a while; called again and again by ``serve_forever``."""
        if self.seen and not self.tabs and not self.ending and time.monotonic() - self.left > _PATIENCE:
            self.ending = True
            threading.Thread(target=self.shutdown, daemon=True).start()


class Handler(BaseHTTPRequestHandler):
    """One request."""

    server: Server
    protocol_version = "HTTP/1.1"
    server_version = "layermap"
    sys_version = ""

    def do_GET(self) -> None:
        path = urlsplit(self.path)
        if not self._is_allowed(parse_qs(path.query).get("token", [""])[0]):
            self._answer(HTTPStatus.FORBIDDEN, "403: open the address that layermap printed\n", "text/plain")
        elif path.path == "/":
            self._guarded(lambda: self._answer(HTTPStatus.OK, self.server.desk.opened(), "text/html"))
        elif path.path == "/alive":
            self._stay()
        else:
            self._answer(HTTPStatus.NOT_FOUND, "404\n", "text/plain")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        size = int(length) if length.isdigit() else -1
        if not self._is_allowed(""):
            self.close_connection = True
            self._answer(HTTPStatus.FORBIDDEN, json.dumps({"error": "not allowed"}), "application/json")
        elif urlsplit(self.path).path != "/save" or not 0 <= size <= _MOST_BYTES:
            self.close_connection = True
            self._answer(HTTPStatus.NOT_FOUND, json.dumps({"error": "no such request"}), "application/json")
        else:
            self._guarded(lambda: self._save(self.rfile.read(size)))

    def _save(self, body: bytes) -> None:
        try:
            raw = json.loads(body)
        except (ValueError, RecursionError):
            raw = None
        if not isinstance(raw, dict):
            raise LayermapError("request", "no JSON object", "reload the page")
        status, found = self.server.desk.save(raw)
        self._answer(status, json.dumps(found), "application/json")

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except LayermapError as error:
            self._answer(HTTPStatus.BAD_REQUEST, json.dumps({"error": str(error)}), "application/json")

    def _is_allowed(self, token: str) -> bool:
        """The token in the address or the header, this server as the host, and no other origin."""
        given = self.headers.get("X-Layermap-Token") or token
        known = hmac.compare_digest(given.encode("utf-8", "replace"), self.server.desk.token.encode())
        hosts = (f"127.0.0.1:{self.server.server_port}", f"localhost:{self.server.server_port}")
        origin = self.headers.get("Origin")
        return known and self.headers.get("Host") in hosts and origin in (None, *(f"http://{host}" for host in hosts))

    def _stay(self) -> None:
        """Hold the connection of a page until the page is closed."""
        server = self.server
        server.tabs.add(self)
        server.seen = True
        self.send_response(HTTPStatus.OK)
        self.send_header("Content-Type", "text/plain")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while True:
                self.wfile.write(b".")
                self.wfile.flush()
                time.sleep(_BEAT)
        except OSError:
            server.left = time.monotonic()
            server.tabs.discard(self)

    def _answer(self, status: int, text: str, kind: str) -> None:
        body = text.encode("utf-8", "replace")
        self.send_response(status)
        for name, value in (
            ("Content-Type", f"{kind}; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Referrer-Policy", "no-referrer"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing: the terminal belongs to the command."""
