"""Folders of results: kinds, origin, checks of write access."""

from __future__ import annotations

import json
import logging
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import CelltcpError
from celltcp.results.manifest import manifest_of
from celltcp.results.working import UNFINISHED, check_folder

#: Key of the origin in the metadata of a table.
META = b"celltcp"

#: Results of commands that store runs.
RUNS = "runs"

#: Tables of captures.
CAPTURES = "captures"

#: Kinds of results in a folder; some of their tables have the same names.
KINDS = {
    "evaluate": "an evaluation of policies (celltcp select evaluate)",
    "engines": "a comparison of engines (celltcp select compare-engines)",
    UNFINISHED: "what celltcp select evaluate or compare-engines has begun",
    CAPTURES: "an analysis of captures (celltcp pcap analyze)",
    RUNS: "results of celltcp compare or run",
}

#: Key of the origin that only results of this kind have.
_KIND_KEYS = {"evaluate": "policies", "engines": "requirements"}

#: Warnings about files, a line each on standard error unless the program handles them.
LOG = logging.getLogger("celltcp")


def require_own(folder: str | Path, command: str) -> None:
    """Checks that a command's tables will not replace those of another command.

    Args:
        folder: folder for the tables, which need not exist.
        command: `"evaluate"`, `"engines"`, `"captures"`, or a command that stores runs.

    Raises:
        CelltcpError: if the folder holds results of another kind, or a working folder that is not
            celltcp's.
    """
    check_folder(Path(folder))
    existing_kind = kind_in(Path(folder))
    kind = command if command in KINDS else RUNS
    is_unfinished = existing_kind == UNFINISHED and kind in _KIND_KEYS
    if existing_kind is not None and existing_kind != kind and not is_unfinished:
        raise CelltcpError(
            f"{folder}: holds {KINDS[existing_kind]}, which the tables of {command} would replace; "
            "allowed: a folder of their own"
        )


def kind_in(folder: Path) -> str | None:
    """Returns the kind of results in a folder, a key of `KINDS`; None without any."""
    about = about_in(folder)
    if about is None and (manifest := manifest_of(folder)) and manifest.kind == CAPTURES:
        return CAPTURES
    if about is None:
        return UNFINISHED if (folder / UNFINISHED).is_dir() else None
    return next((kind for kind, key in _KIND_KEYS.items() if key in about), RUNS)


def about_in(folder: Path) -> dict[str, Any] | None:
    """Returns the origin of the results in a folder; None without results of celltcp.

    Raises:
        CelltcpError: if the manifest of the folder is damaged.
    """
    if (manifest := manifest_of(folder)) is not None and "runs.parquet" in manifest.files:
        return dict(manifest.about)
    try:
        meta = pq.read_schema(folder / "runs.parquet").metadata or {}
        about = json.loads(meta[META]) if META in meta else None
    except (pa.ArrowInvalid, OSError, ValueError):
        return None
    return about if isinstance(about, dict) else None


def prepare_folder(folder: str | Path) -> Path:
    """Creates the folder unless it exists, and checks that files can be written to it.

    Raises:
        CelltcpError: if it cannot be written, or a working folder in it is not celltcp's, in which case
            nothing was changed.
    """
    target = Path(folder)
    check_folder(target)
    try:
        target.mkdir(parents=True, exist_ok=True)
        # The file has no name if the file system supports that (O_TMPFILE).
        with tempfile.TemporaryFile(dir=target):
            pass
    except OSError as error:
        raise CelltcpError(f"{target}: cannot be written: {error.strerror}") from None
    return target


def check_no_link(root: Path, path: Path) -> None:
    """Checks that no folder between `root` and `path` is a link.

    Raises:
        CelltcpError: names the link.
    """
    if not path.is_relative_to(root):
        return
    folder = root
    for name in path.relative_to(root).parts:
        folder /= name
        if folder.is_symlink():
            raise CelltcpError(
                f"{folder}: is a link, and leads out of {root}; remove it, or give another folder"
            )
