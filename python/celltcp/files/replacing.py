"""Checks which existing files an output may replace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.files.atomic_write import check_writable, regular_file

#: Length of the start of a file that is searched for the mark of its kind, bytes.
_HEAD_BYTES = 4096
#: Length of the end that is searched. A PDF has its creator before its table of objects, 20 bytes each.
_TAIL_BYTES = 1 << 20


@dataclass(frozen=True)
class FileKind:
    """Kind of output that is usually written again, and how a file of it is recognised.

    Attributes:
        title: name of the kind, for error messages.
        starts: texts with one of which such a file begins, after white space.
        mark: text in its first 4096 bytes.
        first_line: text in its first line.
        end: text in its last MiB.
    """

    title: str
    starts: tuple[bytes, ...] = (b"",)
    mark: bytes = b""
    first_line: bytes = b""
    end: bytes = b""

    def matches(self, file: Path) -> bool:
        """Returns whether a file is of this kind."""
        with file.open("rb") as content:
            head = content.read(_HEAD_BYTES)
            if not (
                head.lstrip().startswith(self.starts)
                and self.mark in head
                and self.first_line in head.partition(b"\n")[0]
            ):
                return False
            if not self.end:
                return True
            content.seek(max(file.stat().st_size - _TAIL_BYTES, 0))
            return self.end in content.read()


JSON = FileKind("JSON", (b"{", b"["))


def check_output(
    file: Path,
    kind: FileKind | None = None,
    *,
    overwrite: bool = False,
    inputs: Iterable[str | Path] = (),
) -> None:
    """Checks that a file can be written, and that no other file is lost by that.

    An existing file is replaced if `overwrite` is set, it is empty, or it is of the kind that is going
    to be written. An input of the same command is never replaced. Pipes and devices are not replaced
    but written through.

    Args:
        file: file to be written.
        kind: kind of the content; None if only `overwrite` permits a replacement.
        overwrite: whether a file of any kind may be replaced.
        inputs: names of files that the same command reads or writes; other texts are ignored.

    Raises:
        CelltcpError: if the file cannot be written or may not be replaced.
    """
    check_writable(file)
    for other in inputs:
        if _is_same(file, Path(other)):
            raise CelltcpError(
                f"{file}: is named as another file of this command, too; allowed: another name"
            )
    target = regular_file(file)
    if target is None or target.stat().st_size == 0 or overwrite:
        return
    if kind is None:
        raise CelltcpError(f"{file}: exists; give another name, or --overwrite to replace it")
    if not kind.matches(target):
        raise CelltcpError(f"{file}: exists, and is no {kind.title}; allowed: another name")


def _is_same(file: Path, other: Path) -> bool:
    """Returns whether two names are of one regular file, even if that does not exist yet."""
    try:
        if not other.exists():
            return not file.exists() and file.resolve() == other.resolve()
        return other.is_file() and file.exists() and file.samefile(other)
    except (OSError, ValueError):
        # An argument that cannot be the name of a file, such as one that is too long.
        return False
