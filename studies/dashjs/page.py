"""Page: serves the player to the browser beside it, and takes its log.

python3 page.py DASHJS SETTINGS LOG

Prints `start` when the player starts, and ends when it has written the log.
"""

from __future__ import annotations

import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

HERE = Path(__file__).parent


class Page(HTTPServer):
    """Server of the page, at port 80 of the loopback."""

    def __init__(self, dashjs: Path, settings: Path, log: Path) -> None:
        """Reads what the page needs; `log` is written at its end."""
        super().__init__(("127.0.0.1", 80), Handler)
        self.log = log
        self.is_over = False
        self.files = {
            "/player.html": ("text/html", (HERE / "player.html").read_bytes()),
            "/player.js": ("text/javascript", (HERE / "player.js").read_bytes()),
            "/dash.js": ("text/javascript", dashjs.read_bytes()),
            "/settings.json": ("application/json", settings.read_bytes()),
        }


class Handler(BaseHTTPRequestHandler):
    """Request of the browser."""

    server: Page

    def do_GET(self) -> None:
        """Sends a file of the page."""
        kind, body = self.server.files.get(self.path, ("text/plain", b""))
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        """Tells that the player starts, or takes the log."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.path == "/start":
            print("start", flush=True)
        else:
            self.server.log.write_bytes(body)
            self.server.is_over = True
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Prints nothing for each request."""


if __name__ == "__main__":
    page = Page(*map(Path, sys.argv[1:]))
    while not page.is_over:
        page.handle_request()
