"""Stored results of live runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from celltcp._core import LIVE
from celltcp.live.result import LiveResult
from celltcp.results.folder import require_own
from celltcp.results.folder_lock import check_replaceable, locked_folder
from celltcp.results.publishing import remove_pictures
from celltcp.results.stored_tables import publish_tables
from celltcp.results.tables import TABLES
from celltcp.results.working import staging

#: Files of the results.
_FILES = tuple(f"{name}.parquet" for name in TABLES)


@contextmanager
def result_folder(folder: str | Path, origin: Mapping[str, Any], *, overwrite: bool) -> Iterator[Path]:
    """Locks a folder for the results of a live run, and removes the pictures in it.

    Raises:
        CelltcpError: if the folder has other results, and they may not be overwritten.
    """
    require_own(folder, LIVE)
    with locked_folder(folder) as locked:
        check_replaceable(locked, origin, _FILES, overwrite=overwrite)
        remove_pictures(locked)
        yield locked


def publish(live_result: LiveResult, folder: Path) -> None:
    """Writes the tables of a live run so far to a locked folder."""
    with staging(folder) as staged:
        publish_tables(live_result.tables, live_result.about, staged, folder)
