"""Programs of celltcp in a run of the kernel engine, and whether they were built together."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from celltcp._core import CelltcpError

_PACKAGE = Path(__file__).resolve().parents[1]
#: File of a checkout with the digests of the programs, as of sha256sum: the last `make setup` wrote it.
_STAMP = _PACKAGE.parents[1] / ".venv" / "engine"
_LINE = re.compile(r"([0-9a-f]{64}) [ *](.+)")
#: Command that builds the programs in a checkout.
SETUP_COMMAND = "make setup"


def program(name: str) -> str:
    """Returns the path of a program of the kernel engine that comes with celltcp."""
    file = _PACKAGE / "engine" / name
    if not file.is_file():
        raise CelltcpError(f"{file}: is missing; in a checkout, {SETUP_COMMAND} builds it")
    return str(file)


def other_builds() -> list[str]:
    """Returns the programs that are not those of the last `make setup`, relative to the package.

    Messages between programs of different sources cannot be read. A wheel has no stamp, as its programs
    are built together.
    """
    try:
        lines = _STAMP.read_text("utf-8").splitlines()
    except OSError:
        return []
    matches = filter(None, map(_LINE.fullmatch, lines))
    return [match[2] for match in matches if _digest(_PACKAGE / match[2]) != match[1]]


def require_one_build() -> None:
    """Checks that the programs were built together."""
    if names := other_builds():
        raise CelltcpError(f"kernel engine: {other_build_text(names)}")


def other_build_text(names: list[str]) -> str:
    """Returns which programs are of another build, and the command that builds all of them."""
    verb = "is" if len(names) == 1 else "are"
    return (
        f"{' and '.join(names)} {verb} of another build than the rest of celltcp; `{SETUP_COMMAND}` "
        "builds all of it again"
    )


def _digest(file: Path) -> str:
    """Returns the digest of a file; empty if it is missing."""
    try:
        with file.open("rb") as data:
            return hashlib.file_digest(data, "sha256").hexdigest()
    except OSError:
        return ""
