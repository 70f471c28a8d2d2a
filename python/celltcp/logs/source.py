"""Source of a log: a plain or compressed file in one of the usual encodings."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import itertools
import lzma
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from celltcp._core import CelltcpError
from celltcp.logs.errors import quoted_names

if TYPE_CHECKING:
    from collections.abc import Callable

#: Length of the head of a file, from which separators, names and formats are inferred, bytes.
HEAD_BYTES = 1 << 18
#: Maximum length of the text of a compressed file, bytes: some kilobytes can unpack to any length.
MAX_UNPACKED_BYTES = 1 << 30

#: Functions that open compressed files, by the first bytes of these.
_OPENERS: dict[bytes, Callable[[Path], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
    b"\x28\xb5\x2f\xfd": lambda path: _by_arrow(path, "zstd"),
    b"\x04\x22\x4d\x18": lambda path: _by_arrow(path, "lz4"),
    b"PK\x03\x04": lambda path: _only_member(path),
}
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Source:
    """File of a log."""

    path: Path
    #: Content of a compressed file; `None` for a plain one.
    unpacked: bytes | None
    #: Encoding of its text.
    encoding: str
    #: First bytes of the file.
    magic: bytes
    #: First lines of the file, without the part of a line at the end.
    head: str
    #: Whether the head has all lines of the file.
    is_whole: bool

    @classmethod
    def open(cls, path: Path) -> Source:
        """Opens a file.

        Raises:
            CelltcpError: if it cannot be read, or is damaged.
        """
        try:
            with path.open("rb") as file:
                first = file.read(HEAD_BYTES)
            unpacked = _unpacked(path, first)
        except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise CelltcpError(getattr(error, "strerror", None) or str(error)) from None
        start = first if unpacked is None else unpacked[:HEAD_BYTES]
        is_whole = len(start) < HEAD_BYTES
        encoding = _encoding(start, is_whole=is_whole)
        head = codecs.getincrementaldecoder(encoding)("replace").decode(start, final=is_whole)
        if not is_whole:
            head = head[: head.rfind("\n") + 1] or head
        return cls(path, unpacked, encoding, start[:8], head, is_whole)

    def binary(self) -> io.BufferedIOBase:
        """Returns a stream of its bytes, unpacked."""
        return io.BytesIO(self.unpacked) if self.unpacked is not None else self.path.open("rb")

    def text(self) -> str:
        """Returns the whole text; bytes that are no text are replaced."""
        if self.is_whole:
            return self.head
        with self.binary() as stream:
            return stream.read().decode(self.encoding, "replace")

    def lines(self, max_count: int = 200) -> list[str]:
        """Returns the first lines of the head that are neither empty nor comments."""
        lines = (line for line in self.head.splitlines() if line.strip())
        return list(itertools.islice((line for line in lines if line.lstrip()[0] != "#"), max_count))


def _unpacked(path: Path, first: bytes) -> bytes | None:
    opener = next((opener for magic, opener in _OPENERS.items() if first.startswith(magic)), None)
    # A spreadsheet is a zip file of several files, which pandas reads.
    if opener is None or is_spreadsheet(first):
        return None
    with opener(path) as stream:
        content = bytes(stream.read(MAX_UNPACKED_BYTES + 1))
    if len(content) > MAX_UNPACKED_BYTES:
        raise CelltcpError(f"is longer than {MAX_UNPACKED_BYTES} bytes of text")
    return content


def is_spreadsheet(first: bytes) -> bool:
    """Returns whether the first bytes of a file are those of one in xlsx."""
    return first.startswith(b"PK\x03\x04") and (b"[Content_Types].xml" in first or b"xl/" in first)


def _by_arrow(path: Path, codec: Literal["lz4", "zstd"]) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression=codec)


def _only_member(path: Path) -> Any:
    """Returns a stream of the only file in a zip archive.

    Raises:
        CelltcpError: if there are several.
    """
    with zipfile.ZipFile(path) as archive:
        names = [member.filename for member in archive.infolist() if not member.is_dir()]
        if len(names) != 1:
            raise CelltcpError(
                f"{len(names)} files are packed into it, {quoted_names(names)}: unpack the log"
            )
        return archive.open(names[0])


def _encoding(start: bytes, *, is_whole: bool) -> str:
    """Returns the encoding of a text, by its first bytes."""
    for bom, encoding in _BOMS:
        if start.startswith(bom):
            return encoding
    # Every other byte of Latin text in UTF-16 is zero.
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        zeros = start[offset:1000:2].count(0)
        if zeros > 0.4 * len(start[:1000]):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(start, final=is_whole)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"
