"""Tables of captures in a database file of DuckDB."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError
from celltcp.pcap.analysis import CaptureAnalyses


def require_duckdb() -> Any:
    """Returns the module duckdb.

    Raises:
        CelltcpError: if it is not installed.
    """
    try:
        return import_module("duckdb")
    except ImportError:
        raise CelltcpError(
            "--database needs DuckDB, which is not installed: pip install 'celltcp[pcap]'"
        ) from None


def write_database(analyses: CaptureAnalyses, file: Path) -> Path:
    """Adds the tables to those of a database file, and returns the file.

    Rows of a capture of the same name are replaced.

    Raises:
        CelltcpError: if DuckDB is not installed, or the file is no database that can be written.
    """
    duckdb = require_duckdb()
    try:
        with duckdb.connect(str(file)) as database:
            database.begin()
            for name, table in analyses.tables.items():
                database.register("incoming", table)
                database.execute(f"create table if not exists {name} as select * from incoming limit 0")
                database.execute(
                    f"delete from {name} where file in (select distinct file from incoming)"
                )
                database.execute(f"insert into {name} by name select * from incoming")
                database.unregister("incoming")
            database.commit()
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise CelltcpError(f"{file}: cannot be written as a database: {reason}") from None
    return file
