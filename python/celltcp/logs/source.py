"""Source of a log: a plain or compressed file in one of the usual encodings."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import lzma
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from celltcp.logs.errors import log_error, quoted_names

if TYPE_CHECKING:
    from collections.abc import Callable

#: Length of the first text, from which separators, names and formats are inferred, bytes.
HEAD = 1 << 18
#: Maximum text of a compressed file, bytes: some kilobytes can unpack to any length.
MAX_UNPACKED = 1 << 30

#: First bytes of compressed files, and the function that opens them.
_PACKED: dict[bytes, Callable[[Path], Any]] = {
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
    #: Bytes of a packed file, unpacked; `None` for one that is not packed.
    unpacked: bytes | None
    #: Encoding of its text.
    encoding: str
    #: First bytes of the file.
    magic: bytes
    #: Whole lines from the beginning.
    head: str
    #: Whether these are all lines of the file.
    is_whole: bool

    @classmethod
    def open(cls, path: Path) -> Source:
        """Opens a file.

        Raises:
            CelltcpError: if it cannot be read, or is damaged.
        """
        try:
            with path.open("rb") as file:
                first = file.read(HEAD)
            unpacked = _unpacked(path, first)
        except (OSError, EOFError, lzma.LZMAError, zipfile.BadZipFile) as error:
            raise log_error(getattr(error, "strerror", None) or str(error)) from None
        start = first if unpacked is None else unpacked[:HEAD]
        is_whole = len(start) < HEAD
        encoding = _encoding(start, is_whole=is_whole)
        head = codecs.getincrementaldecoder(encoding)("replace").decode(start, final=is_whole)
        if not is_whole:
            head = head[: head.rfind("\n") + 1] or head
        return cls(path, unpacked, encoding, start[:8], head, is_whole)

    def binary(self) -> io.BufferedIOBase:
        """Returns a stream of its bytes, unpacked."""
        return io.BytesIO(self.unpacked) if self.unpacked is not None else self.path.open("rb")

    def text(self) -> str:
        """Returns the whole text.

        Raises:
            CelltcpError: if it is no text.
        """
        if self.is_whole:
            return self.head
        with self.binary() as stream:
            return stream.read().decode(self.encoding, "replace")

    def lines(self, most: int = 200) -> list[str]:
        """Returns the first lines that are not empty and no comments."""
        result = []
        for line in self.head.splitlines():
            if line.strip() and not line.lstrip().startswith("#"):
                result.append(line)
                if len(result) == most:
                    break
        return result


def _unpacked(path: Path, first: bytes) -> bytes | None:
    opener = next((opener for magic, opener in _PACKED.items() if first.startswith(magic)), None)
    # The files of a spreadsheet are packed into one.
    if opener is None or is_spreadsheet(first):
        return None
    with opener(path) as stream:
        content = bytes(stream.read(MAX_UNPACKED + 1))
    if len(content) > MAX_UNPACKED:
        raise log_error(f"is longer than {MAX_UNPACKED} bytes of text")
    return content


def is_spreadsheet(first: bytes) -> bool:
    """Returns whether the first bytes of a file are those of one in xlsx."""
    return first.startswith(b"PK\x03\x04") and (b"[Content_Types].xml" in first or b"xl/" in first)


def _by_arrow(path: Path, codec: Literal["lz4", "zstd"]) -> Any:
    import pyarrow as pa

    return pa.input_stream(str(path), compression=codec)


def _only_member(path: Path) -> Any:
    """Returns the file that is packed into one of zip.

    Raises:
        CelltcpError: if there are several.
    """
    with zipfile.ZipFile(path) as packed:
        names = [each.filename for each in packed.infolist() if not each.is_dir()]
        if len(names) != 1:
            raise log_error(
                f"{len(names)} files are packed into it, {quoted_names(names)}: unpack the log"
            )
        return packed.open(names[0])


def _encoding(start: bytes, *, is_whole: bool) -> str:
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
