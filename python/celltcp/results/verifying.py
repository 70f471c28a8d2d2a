"""Verification: comparison of all files in a folder with the digests that were written with them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError, is_intact
from celltcp.results.checked import require_intact
from celltcp.results.manifest import read_manifest
from celltcp.results.working import INDEX
from celltcp.scenarios.stored import MANIFEST


@dataclass(frozen=True)
class Verification:
    """Outcome of a verification."""

    #: Number of unchanged files, including manifests.
    intact: int
    #: A line about each file that is damaged or missing.
    damaged: list[str]


def verify(path: Path) -> Verification:
    """Compares files with their digests; changes nothing.

    Args:
        path: folder, which is searched with its subfolders but without following links; or a
            file that contains its own digest, such as a policy.

    Raises:
        CelltcpError: if no file has a digest.
    """
    result = _verify_folder(path) if path.is_dir() else _verify_file(path)
    if not result.intact and not result.damaged:
        raise CelltcpError(f"{path}: has no file with a digest of celltcp")
    return result


def _verify_folder(path: Path) -> Verification:
    intact = 0
    damaged = []
    for folder, folders, _ in os.walk(path):
        folders.sort()
        for name in (MANIFEST, INDEX):
            try:
                manifest = read_manifest(Path(folder) / name)
            except CelltcpError as error:
                damaged.append(str(error))
                continue
            if manifest is None:
                continue
            intact += 1
            for file in manifest.files:
                try:
                    require_intact(Path(folder) / file, manifest)
                    intact += 1
                except CelltcpError as error:
                    damaged.append(str(error))
    return Verification(intact, damaged)


def _verify_file(path: Path) -> Verification:
    try:
        # None without a digest.
        intact = is_intact(path.read_bytes())
    except OSError as error:
        raise CelltcpError(f"{path}: cannot be read: {error.strerror}") from None
    if intact is False:
        return Verification(0, [f"{path}: damaged, or changed after celltcp wrote it"])
    return Verification(int(intact is True), [])
