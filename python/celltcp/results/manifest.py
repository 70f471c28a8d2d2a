"""Manifests: sealed JSON files with the name and digest of each file that celltcp wrote to a folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from celltcp._core import BLANK_DIGEST, SEAL_LABEL, CelltcpError, file_digest, is_intact, seal
from celltcp.scenarios.stored import MANIFEST


@dataclass(frozen=True)
class Manifest:
    """List of the files of a folder."""

    #: Kind of the content, such as `"runs"`.
    kind: str
    #: Digest of each file, by its name.
    files: Mapping[str, str] = field(default_factory=dict)
    #: Origin of the files, or other data of the kind.
    about: Mapping[str, Any] = field(default_factory=dict)
    #: Metrics by which the command that made the files ranked, as in `Comparison.best_by`.
    by: tuple[str, ...] = ()

    @classmethod
    def of_files(
        cls, kind: str, folder: Path, names: list[str], about: Mapping[str, Any] | None = None
    ) -> Manifest:
        """Returns the manifest of some files in a folder.

        Raises:
            OSError: if one cannot be read.
        """
        return cls(kind, {name: file_digest(folder / name) for name in names}, about or {})

    def to_bytes(self) -> bytes:
        """Returns the sealed document."""
        document = {"kind": self.kind, "files": dict(self.files), "about": dict(self.about)}
        if self.by:
            document["by"] = list(self.by)
        text = json.dumps({**document, SEAL_LABEL: BLANK_DIGEST}, indent=1) + "\n"
        return seal(text.encode())

    def is_whole(self, folder: Path) -> bool:
        """Returns whether all files exist unchanged."""
        return all(self.has(folder / name) for name in self.files)

    def has(self, file: Path) -> bool:
        """Returns whether a file is listed and unchanged."""
        return file.name in self.files and _digest(file) == self.files[file.name]


def _digest(file: Path) -> str | None:
    """Returns the digest of a regular file; None for other files, or if it cannot be read."""
    try:
        return file_digest(file) if file.is_file() and not file.is_symlink() else None
    except OSError:
        return None


def manifest_of(folder: Path) -> Manifest | None:
    """Returns the manifest of a folder; None without one.

    Raises:
        CelltcpError: if it is damaged, or another file has its name.
    """
    try:
        return read_manifest(folder / MANIFEST)
    except CelltcpError as error:
        raise CelltcpError(
            f"{error}; to make it again, remove it and repeat the command that made it, with "
            "--overwrite; without it, the tables beside it are read unchecked"
        ) from None


def read_manifest(file: Path) -> Manifest | None:
    """Reads a manifest; None if there is no such file.

    Raises:
        CelltcpError: if it is damaged, or no manifest.
    """
    try:
        data = file.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise CelltcpError(f"{file}: cannot be read: {error.strerror}") from None
    intact = is_intact(data)
    if intact is None:
        raise CelltcpError(f"{file}: was not written by celltcp")
    if not intact:
        raise CelltcpError(
            f"{file}: damaged, or changed after celltcp wrote it: its digest is another one"
        )
    try:
        document = json.loads(data)
        by = tuple(map(str, document.get("by", ())))
        return Manifest(str(document["kind"]), dict(document["files"]), dict(document["about"]), by)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise CelltcpError(f"{file}: is no list of files of celltcp") from None
