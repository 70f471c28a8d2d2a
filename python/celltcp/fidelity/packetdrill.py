"""packetdrill: plays the test scripts of Linux's TCP against the native TCP."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from celltcp._core import CelltcpError, play_packetdrill
from celltcp.fidelity.assertions import first_failure

#: Outcomes of a script.
PASSED: Final = "passed"
FAILED: Final = "failed"
NOT_APPLICABLE: Final = "not applicable"
Status = Literal["passed", "failed", "not applicable"]


@dataclass(frozen=True)
class Outcome:
    """Outcome of a script, and its first line that differed or is not supported."""

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
    for path in map(Path, paths):
        if path.is_dir():
            in_folder = sorted(file for file in path.rglob("*.pkt") if file.is_file())
            if not in_folder:
                raise CelltcpError(f"{path}: the folder has no *.pkt")
            scripts += in_folder
        elif path.is_file():
            scripts.append(path)
        else:
            raise CelltcpError(f"{path}: no such file or folder")
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
    failure = first_failure(assertions)
    if failure is None:
        return Outcome(str(path), **played)
    if not failure.is_applicable:
        return Outcome(str(path), NOT_APPLICABLE, failure.line, reason=failure.reason)
    return Outcome(str(path), FAILED, failure.line, failure.expected, failure.seen, failure.reason)


def play_scripts(paths: Sequence[str]) -> Outcomes:
    """Plays all scripts among files and folders."""
    return [play_script(script) for script in find_scripts(paths)]


def count(outcomes: Sequence[Outcome]) -> Counter[Status]:
    """Returns the number of scripts by status."""
    return Counter(outcome.status for outcome in outcomes)


def missing(outcomes: Sequence[Outcome]) -> list[tuple[str, int]]:
    """Returns the reasons why scripts are not applicable, each with its count, most frequent first."""
    reasons = (str(outcome.reason) for outcome in outcomes if outcome.status == NOT_APPLICABLE)
    return Counter(reasons).most_common()
