"""Origin server: manifest and segments, padded to the sizes of the ladder.

python3 origin.py MEDIA LADDER SEGMENTS ADDRESS CCA
"""

from __future__ import annotations

import socket
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from ladder import Ladder
from media import padded


class Origin(ThreadingHTTPServer):
    """Server of a video."""

    daemon_threads = True

    def __init__(self, media: Path, ladder: Ladder, segments: int, address: str, cca: str) -> None:
        """Reads the media, and listens at port 80 of `address` with a congestion control."""
        super().__init__((address, 80), Handler)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cca.encode())
        self.ladder = ladder
        self.manifest = ladder.manifest(segments).encode()
        self.first = (media / "init.mp4").read_bytes()
        self.pattern = [(media / f"{number}.m4s").read_bytes() for number in range(segments)]

    def body(self, path: str) -> bytes | None:
        """Returns the file at a path of the URL; `None` if there is none."""
        match path.strip("/").removesuffix(".m4s").split("/"):
            case ["video.mpd"]:
                return self.manifest
            case ["init.mp4"]:
                return self.first
            case [quality, segment]:
                number = int(segment)
                return padded(self.pattern[number], self.ladder.size(number, int(quality)))
        return None


class Handler(BaseHTTPRequestHandler):
    """Connection with a browser."""

    protocol_version = "HTTP/1.1"
    server: Origin

    def do_GET(self) -> None:
        """Answers a request; the page, which has another origin, may see how long it took."""
        body = self.server.body(self.path)
        self.send_response(200 if body is not None else 404)
        self.send_header("Content-Length", str(len(body or b"")))
        self.send_header("Cache-Control", "no-store")
        self.send_header("Access-Control-Allow-Origin", "*")
        self.send_header("Timing-Allow-Origin", "*")
        self.end_headers()
        try:
            self.wfile.write(body or b"")
        except (BrokenPipeError, ConnectionResetError):
            # The player has abandoned the segment.
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        """Prints nothing for each request."""


if __name__ == "__main__":
    media, ladder, segments, *listening = sys.argv[1:]
    Origin(Path(media), Ladder.read(Path(ladder)), int(segments), *listening).serve_forever()
