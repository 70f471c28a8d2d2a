"""Checked reading: compares the digest of a table with the manifest before reading it."""

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
        # `read_table` reads through pyarrow.dataset, which takes twice as long.
        with pq.ParquetFile(file, page_checksum_verification=True) as parquet:
            return parquet.read()
    except (pa.ArrowInvalid, OSError) as error:
        reason = str(error).splitlines()[0]
        remedy = _remedy(file, manifest.about if manifest else {})
        raise CelltcpError(f"{file}: damaged or cut short: {reason}; {remedy}") from None


def require_intact(file: Path, manifest: Manifest | None) -> None:
    """Checks that a file is unchanged, if a manifest has its digest.

    Raises:
        CelltcpError: names the file, and how to make it again.
    """
    if manifest is None or file.name not in manifest.files or manifest.has(file):
        return
    remedy = _remedy(file, manifest.about)
    if not file.exists():
        raise CelltcpError(f"{file}: missing; {remedy}")
    raise CelltcpError(
        f"{file}: damaged, or changed after celltcp wrote it: its digest is another one; {remedy}"
    )


def _remedy(file: Path, about: Mapping[str, Any]) -> str:
    """Returns the remedy for a damaged file: the command that made it, if its origin shows that."""
    command = _command(about)
    if command is None:
        return "to make it again, repeat the command that made it, with --overwrite"
    return f"to make it again: {command} --out {shlex.quote(str(file.parent))}"


def _command(about: Mapping[str, Any]) -> str | None:
    """Returns the command that made the results; None if the origin (`about`) lacks some settings."""
    try:
        name, engine = str(about["name"]), str(about["engine"])
        if name not in scenario_names() or engine != NATIVE:
            return None
        if int(about["runs"]) == len(about["cca"]) == 1:
            # They may be results of `celltcp run` with further options.
            return None
        duration = f"{about['duration_s']:g}s"
        if load_scenario(name, duration=duration).hash != about["hash"]:
            return None
        words = ["celltcp", "compare", name, "--duration", duration, "--cca", ",".join(about["cca"])]
        words += ["--runs", str(about["runs"]), "--seed", str(about["seed"]), "--overwrite"]
    except (CelltcpError, KeyError, TypeError, ValueError):
        return None
    return shlex.join(words)
