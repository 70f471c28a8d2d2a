"""Check of video scores against the reference software of ITU-T P.1203.

The software may be used for research only and is not shipped. It is the module `itu_p1203` of
https://github.com/itu-p1203/itu-p1203.
"""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from celltcp._core import CelltcpError, p1203_scores

#: Maximum difference of scores that count as equal.
TOLERANCE = 0.01


class Piece(NamedTuple):
    """A part of a video with constant properties."""

    kbps: float
    width: int
    height: int
    fps: float
    duration_s: float


@dataclass(frozen=True)
class Session:
    """A session whose scores are compared."""

    name: str
    pieces: tuple[Piece, ...]
    audio_kbps: float
    #: Stalls: length of the video played before, and duration, s.
    interruptions: tuple[tuple[float, float], ...] = ()

    def reference_input(self) -> dict[str, Any]:
        """Returns the session in the input format of the reference software, mode 0."""
        video: list[dict[str, Any]] = []
        start_s = 0.0
        for piece in self.pieces:
            video.append(
                {
                    "bitrate": piece.kbps,
                    "codec": "h264",
                    "duration": piece.duration_s,
                    "fps": piece.fps,
                    "resolution": f"{piece.width}x{piece.height}",
                    "start": start_s,
                }
            )
            start_s += piece.duration_s
        audio = {"bitrate": self.audio_kbps, "codec": "aaclc", "duration": start_s, "start": 0}
        return {
            "I11": {"segments": [audio], "streamId": 1},
            "I13": {"segments": video, "streamId": 1},
            "I23": {
                "stalling": [list(interruption) for interruption in self.interruptions],
                "streamId": 1,
            },
            "IGen": {"device": "pc", "displaySize": "1920x1080", "viewingDistance": "150cm"},
        }


def _sessions() -> tuple[Session, ...]:
    """Returns the sessions of check.toml."""
    entries = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["session"]
    return tuple(
        Session(
            entry["name"],
            tuple(Piece(*piece) for piece in entry["pieces"]),
            entry["audio_kbps"],
            tuple(map(tuple, entry.get("interruptions", ()))),
        )
        for entry in entries
    )


SESSIONS = _sessions()


@dataclass(frozen=True)
class CheckedSession:
    """Scores of a session by celltcp and by the reference software."""

    session: str
    #: O.23 (stalling), O.35 (coding), and O.46 (the whole session), which needs the random forest.
    scores: dict[str, float]
    reference: dict[str, float]

    @property
    def agrees(self) -> bool:
        """Whether all scores are the same within the tolerance."""
        return all(
            abs(score - self.reference[name]) <= TOLERANCE for name, score in self.scores.items()
        )


def check() -> list[CheckedSession]:
    """Compares the scores of all sessions.

    Raises:
        CelltcpError: if the reference software is not installed.
    """
    try:
        software = importlib.import_module("itu_p1203")
    except ImportError:
        raise CelltcpError(
            "itu_p1203, the reference software of ITU-T P.1203, is not installed: there is nothing to "
            "compare with. The expected values of the tests come from the text of the Recommendation, "
            "and from the published result of the software's example mode0.json (O.46 is 4.9209)"
        ) from None
    forest = _forest(software)
    result = []
    for session in SESSIONS:
        values = p1203_scores(session.pieces, session.audio_kbps, session.interruptions, forest)
        scores = dict(zip(("O23", "O35", "O46"), values, strict=True))
        if forest is None:
            del scores["O46"]
        output = software.P1203Standalone(session.reference_input(), quiet=True).calculate_complete()
        reference = {name: float(output[name]) for name in scores}
        result.append(CheckedSession(session.name, scores, reference))
    return result


def _forest(software: ModuleType) -> Path | None:
    """Returns the folder with the random forest of the software; None if it has none."""
    folder = Path(software.__file__ or "").parent
    return next((file.parent for file in sorted(folder.rglob("tree*.csv"))), None)
