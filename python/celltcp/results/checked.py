"""Checked reading: tables whose digest is compared with that in the manifest before they are read."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import NATIVE, CelltcpError
from celltcp.results.manifest import Manifest
from celltcp.scenarios.scenarios import load_scenario, scenario_names


def read_checked(file: Path, manifest: Manifest | None) -> pa.Table:
    """Reads a table; without a manifest that lists it, only the checksums of its pages are checked.

    Raises:
        CelltcpError: if it is damaged; names the file, and how to make it again.
    """
    require_intact(file, manifest)
    try:
        # `read_table` reads by pyarrow.dataset, in twice the time.
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            return parquet.read()
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        again = _how_again(file, manifest.about if manifest else {})
        raise CelltcpError(f"{file}: damaged or cut short: {reason}; {again}") from None


def require_intact(file: Path, manifest: Manifest | None) -> None:
    """Makes sure that a file is as it was written, as far as a manifest says.

    Raises:
        CelltcpError: names the file, and how to make it again.
    """
    if manifest is None or file.name not in manifest.files or manifest.has(file):
        return
    again = _how_again(file, manifest.about)
    if not file.exists():
        raise CelltcpError(f"{file}: missing; {again}")
    raise CelltcpError(
        f"{file}: damaged, or changed after celltcp wrote it: its digest is another one; {again}"
    )


def _how_again(file: Path, about: Mapping[str, Any]) -> str:
    """Returns how a file is made again: by the command, if the origin of the results says enough."""
    command = _command(about)
    if command is None:
        return "to make it again, repeat the command that made it, with --overwrite"
    return f"to make it again: {command} --out {shlex.quote(str(file.parent))}"


def _command(about: Mapping[str, Any]) -> str | None:
    """Returns the command whose results have this origin; None if it used more than the origin says."""
    try:
        name, engine = str(about["name"]), str(about["engine"])
        if name not in scenario_names() or engine != NATIVE:
            return None
        if int(about["runs"]) == len(about["cca"]) == 1:
            # That may be of `celltcp run` with any of its options.
            return None
        duration = f"{about['duration_s']:g}s"
        changed = load_scenario(name, duration=duration)
        if changed.hash != about["hash"]:
            return None
        words = ["celltcp", "compare", name, "--duration", duration, "--cca", ",".join(about["cca"])]
        words += ["--runs", str(about["runs"]), "--seed", str(about["seed"]), "--overwrite"]
    except (CelltcpError, KeyError, TypeError, ValueError):
        return None
    return shlex.join(words)
