"""Table of the outcomes of a training, as a Parquet file."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from celltcp._core import BLANK_DIGEST, SEAL_LABEL, CelltcpError, __version__, is_intact, seal
from celltcp.files.atomic_write import atomic_write
from celltcp.results.parquet_writer import write_table
from celltcp.selection.slot_measures import HORIZON_S
from celltcp.selection.training.counterfactual import PARTS, SHORT_FLOW_S, Outcomes, Point
from celltcp.selection.training.families import Network

#: Version and horizons of the outcomes. A table with others is rejected.
_MEASURED = f"celltcp {__version__} over {HORIZON_S:g} s, flows of known size {SHORT_FLOW_S:g} s"


def write_outcomes(outcomes: Outcomes, ccas: Sequence[str], file: Path) -> None:
    """Writes a row per point, with its features and the outcomes of each CCA."""
    rows = [
        {
            "family": point.network.family,
            "network": point.network.number,
            "seed": point.network.seed,
            "text": point.network.text,
            "before": point.prior_cca,
            "at_s": point.at_s,
            "size_mb": point.size_mb,
            "requirement": point.requirement,
            "then": point.variant,
            "measured": _MEASURED,
            **{f"feature:{name}": value for name, value in features.items()},
            **{
                f"{part}:{cca}": value
                for cca in ccas
                for part, value in zip(PARTS, parts[cca], strict=True)
            },
        }
        for point, features, parts in zip(
            outcomes.points, outcomes.features, outcomes.parts, strict=True
        )
    ]
    table = pa.Table.from_pandas(pd.DataFrame(rows), preserve_index=False)
    metadata = table.schema.metadata or {}
    content = io.BytesIO()
    blank_seal = {SEAL_LABEL.encode(): BLANK_DIGEST.encode()}
    write_table(table.replace_schema_metadata({**metadata, **blank_seal}), content)
    with atomic_write(file) as partial:
        partial.write_bytes(seal(content.getvalue()))


def read_outcomes(file: Path, ccas: Sequence[str]) -> Outcomes:
    """Reads a file written by `write_outcomes`.

    Raises:
        CelltcpError: if the file is no such table, was changed, or has outcomes of other congestion
            controls or of another version.
    """
    try:
        content = file.read_bytes()
        if is_intact(content) is False:
            raise CelltcpError(
                f"{file}: damaged, or changed after celltcp wrote it: its digest is another one; to "
                "make it again, remove it and repeat the command"
            )
        table = pq.read_table(pa.BufferReader(content), page_checksum_verification=True).to_pandas()
        measured = [name.removeprefix("use:") for name in table.columns if name.startswith("use:")]
        if sorted(measured) != sorted(ccas):
            raise CelltcpError(
                f"{file}: has outcomes of {', '.join(measured)}; allowed: a table of "
                f"{', '.join(ccas)}, or a file that does not exist yet (--outcomes)"
            )
        if other_versions := set(table["measured"]) - {_MEASURED}:
            raise CelltcpError(
                f"{file}: measured by {other_versions.pop()}; allowed: {_MEASURED}, or a file that "
                "does not exist yet (--outcomes)"
            )
        result = Outcomes()
        for row in table.to_dict("records"):
            network = Network(
                str(row["family"]), int(row["network"]), int(row["seed"]), str(row["text"])
            )
            size = None if pd.isna(row["size_mb"]) else float(row["size_mb"])
            prior_cca, at_s = str(row["before"]), float(row["at_s"])
            requirement, variant = str(row["requirement"]), str(row["then"])
            result.points.append(Point(network, prior_cca, at_s, size, requirement, variant))
            result.features.append(
                {
                    str(name).removeprefix("feature:"): float(value)
                    for name, value in row.items()
                    if str(name).startswith("feature:")
                }
            )
            result.parts.append(
                {cca: tuple(float(row[f"{part}:{cca}"]) for part in PARTS) for cca in ccas}
            )
    except (OSError, KeyError, ValueError) as error:
        if isinstance(error, CelltcpError):
            raise
        raise CelltcpError(f"{file}: is no table of outcomes: {error}") from None
    return result
