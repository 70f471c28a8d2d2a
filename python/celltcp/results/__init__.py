"""Results: the tables of a campaign, how they were made, and the folder that keeps them."""

from __future__ import annotations

from celltcp.results.folder import (
    UNFINISHED,
    part_of_file_name,
    prepare_folder,
    require_own,
    write_atomically,
)
from celltcp.results.tables import OPTIONAL, TABLES, Results, StoredTables, read_results

__all__ = [
    "OPTIONAL",
    "TABLES",
    "UNFINISHED",
    "Results",
    "StoredTables",
    "part_of_file_name",
    "prepare_folder",
    "read_results",
    "require_own",
    "write_atomically",
]
