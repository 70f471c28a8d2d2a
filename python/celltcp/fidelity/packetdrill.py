"""packetdrill: plays the test scripts of Linux's TCP against the native TCP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from celltcp._core import CelltcpError, play_packetdrill
from celltcp.fidelity.assertions import first_difference

#: Outcomes of a script.
PASSED: Final = "passed"
FAILED: Final = "failed"
NOT_APPLICABLE: Final = "not applicable"
Status = Literal["passed", "failed", "not applicable"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of a script, and the first line that differed or needs what is missing."""

    script: str
    status: Status
    line: Annotated[int | None, "First line that differed, or that needs what is missing."] = None
    expected: str | None = None
    seen: str | None = None
    reason: str | None = None


#: Outcome of celltcp fidelity packetdrill.
Outcomes = list[Outcome]


def find_scripts(paths: Sequence[str]) -> list[Path]:
    """Returns the scripts among files and folders; folders are searched for `*.pkt`."""
    scripts: list[Path] = []
    for each in map(Path, paths):
        if each.is_dir():
            result = sorted(path for path in each.rglob("*.pkt") if path.is_file())
            if not result:
                raise CelltcpError(f"{each}: the folder has no *.pkt")
            scripts += result
        elif each.is_file():
            scripts.append(each)
        else:
            raise CelltcpError(f"{each}: no such file or folder")
    return list(dict.fromkeys(scripts))


def play_script(path: Path) -> Outcome:
    """Plays one script."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "no UTF-8 text"
        raise CelltcpError(f"{path}: {reason}") from None
    played = play_packetdrill(text, str(path))
    assertions = played.pop("assertions")
    differs = first_difference(assertions)
    if differs is None:
        return Outcome(str(path), **played)
    status: Status = FAILED if differs.applicable else NOT_APPLICABLE
    expected = differs.expected if differs.applicable else None
    seen = differs.seen if differs.applicable else None
    return Outcome(str(path), status, differs.line, expected, seen, differs.reason)


def play_scripts(paths: Sequence[str]) -> Outcomes:
    """Plays all scripts among files and folders."""
    return [play_script(script) for script in find_scripts(paths)]


def count(outcomes: Sequence[Outcome]) -> dict[str, int]:
    """Number of scripts by status."""
    counted = Counter(outcome.status for outcome in outcomes)
    return {status: counted[status] for status in (PASSED, FAILED, NOT_APPLICABLE)}


def missing(outcomes: Sequence[Outcome]) -> list[tuple[str, int]]:
    """Reasons why scripts are not applicable, with their number; the most frequent first."""
    reasons = (str(outcome.reason) for outcome in outcomes if outcome.status == NOT_APPLICABLE)
    return Counter(reasons).most_common()
