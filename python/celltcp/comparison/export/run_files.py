"""Exports with a file per run: file names, and the check that no other file is replaced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from celltcp.files.replacing import FileKind, check_output
from celltcp.results.keys import part_of_file_name
from celltcp.results.tables import Results


def files_of_runs(
    results: Results, folder: Path, ending: str, kind: FileKind
) -> list[tuple[dict[str, Any], Path]]:
    """Returns the row of each run, and its file in a folder: `CCA-SEED` with an ending such as `.json`.

    Raises:
        CelltcpError: if a file cannot be written, or one of another kind would be replaced.
    """
    runs = results.tables["runs"].to_pylist()
    # The name of a policy may be a path, whose slashes are replaced.
    names = [part_of_file_name(f"{run['cca']}-{run['seed']}".replace("/", "-")) for run in runs]
    files = [folder / f"{name}{ending}" for name in names]
    for file in files:
        check_output(file, kind)
    return list(zip(runs, files, strict=True))
