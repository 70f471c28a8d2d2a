"""Digests: a hash of every column of every table of named runs, kept in files beside this one.

A change that keeps all results keeps them. At the top of the checkout,
`PYTHONPATH=tests .venv/bin/python -m digests` writes `native.json` anew; with the argument `kernel`
it writes `kernel.json`. The commit that does so names the fault that it mends.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from celltcp.campaign.engines import Engine
from celltcp.scenarios.scenarios import load_scenario
from digests.cases import Case

#: Columns that tell who made a table, and when; no results.
_ORIGIN = ("scenario_hash", "version", "kernel_version")

#: Per table its number of rows and the hash of each column.
Digest = dict[str, dict[str, str]]


def digest(case: Case, engine: Engine) -> Digest:
    """Runs a case and returns the digest of its tables; the invariant checker watches the run."""
    changes = {"duration": case.duration, "samples": "every-ack", **case.changes}
    scenario = load_scenario(case.scenario, changes=changes)
    if case.radio_log:
        scenario = scenario.with_radio_log()
    run = engine.start(scenario.with_cca(case.cca), case.seed, check=True)
    while not run.advance(scenario.duration_s):
        pass
    tables = {name: pa.record_batch(batch) for name, batch in run.finish().items()}
    return {name: _of_table(table) for name, table in sorted(tables.items())}


def read(engine: str) -> dict[str, Digest]:
    """The digests that are kept for an engine, by the names of the cases."""
    digests: dict[str, Digest] = json.loads(file_of(engine).read_text("utf-8"))
    return digests


def file_of(engine: str) -> Path:
    """The file with the digests of an engine."""
    return Path(__file__).parent / f"{engine}.json"


def _of_table(table: pa.RecordBatch) -> dict[str, str]:
    columns = {
        field.name: _of_column(table.column(field.name))
        for field in table.schema
        if field.name not in _ORIGIN
    }
    return {"rows": str(table.num_rows), **columns}


def _of_column(column: pa.Array) -> str:
    if pa.types.is_floating(column.type):
        # The bits of NaN are not part of a result.
        column = pc.if_else(pc.is_nan(column), pa.scalar(float("nan"), column.type), column)
        data = column.to_numpy(zero_copy_only=False).tobytes()
    elif pa.types.is_integer(column.type):
        data = column.to_numpy(zero_copy_only=False).tobytes()
    else:
        data = "\n".join(map(str, column.to_pylist())).encode()
    return hashlib.sha256(data).hexdigest()[:12]
