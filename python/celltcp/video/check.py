"""Check of the scores of videos against the reference software of ITU-T P.1203.

The software may be used for research only and is not shipped. It is the module `itu_p1203` of
https://github.com/itu-p1203/itu-p1203.
"""

from __future__ import annotations

import importlib
import tomllib
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from celltcp._core import CelltcpError, p1203_scores

#: Maximum difference of equal scores.
TOLERANCE = 0.01

#: Stretch of video: rate in kbit/s, width, height, frames per second, duration in s.
Piece = tuple[float, int, int, float, float]


@dataclass(frozen=True)
class Session:
    """A session whose scores are compared."""

    name: str
    pieces: tuple[Piece, ...]
    audio_kbps: float
    #: Video played before, and time without a moving picture, s.
    interruptions: tuple[tuple[float, float], ...] = ()

    def reference_input(self) -> dict[str, Any]:
        """Returns the session in the input format of the reference software, mode 0."""
        starts = [sum(piece[-1] for piece in self.pieces[:index]) for index in range(len(self.pieces))]
        video = [
            {
                "bitrate": kbps,
                "codec": "h264",
                "duration": duration,
                "fps": rate,
                "resolution": f"{width}x{height}",
                "start": start,
            }
            for start, (kbps, width, height, rate, duration) in zip(starts, self.pieces, strict=True)
        ]
        whole = sum(piece[-1] for piece in self.pieces)
        audio = {"bitrate": self.audio_kbps, "codec": "aaclc", "duration": whole, "start": 0}
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
    """Returns the sessions: the example of the software, and others that stall, adapt, or are poor."""
    known = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["session"]
    return tuple(
        Session(
            each["name"],
            tuple(map(tuple, each["pieces"])),
            each["audio_kbps"],
            tuple(map(tuple, each.get("interruptions", ()))),
        )
        for each in known
    )


SESSIONS = _sessions()


@dataclass(frozen=True)
class Checked:
    """Scores of a session by celltcp and by the reference software."""

    session: str
    #: O.23 (stalling), O.35 (coding), O.46 (the session); O.46 is absent without the forest.
    scores: dict[str, float]
    reference: dict[str, float]

    @property
    def agrees(self) -> bool:
        """Whether all scores are the same within the tolerance."""
        return all(
            abs(score - self.reference[name]) <= TOLERANCE for name, score in self.scores.items()
        )


def check() -> list[Checked]:
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
        mine = p1203_scores(session.pieces, session.audio_kbps, session.interruptions, forest)
        scores = dict(zip(("O23", "O35", "O46"), mine, strict=True))
        if forest is None:
            del scores["O46"]
        answer = software.P1203Standalone(session.reference_input(), quiet=True).calculate_complete()
        result.append(Checked(session.name, scores, {name: float(answer[name]) for name in scores}))
    return result


def _forest(software: ModuleType) -> Path | None:
    """Returns the folder with the trees of the software; None if it has none."""
    folder = Path(software.__file__ or "").parent
    return next((file.parent for file in sorted(folder.rglob("tree*.csv"))), None)
