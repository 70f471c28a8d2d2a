"""Results: the tables of a campaign, how they were made, and the folder that keeps them."""

from __future__ import annotations

from celltcp.results.claim import check_replaceable, claimed, remove_pictures
from celltcp.results.folder import (
    PARTS,
    UNFINISHED,
    about_in,
    part_of_file_name,
    prepare_folder,
    require_own,
    write_atomically,
)
from celltcp.results.tables import OPTIONAL, TABLES, Results, StoredTables, read_results

__all__ = [
    "OPTIONAL",
    "PARTS",
    "TABLES",
    "UNFINISHED",
    "Results",
    "StoredTables",
    "about_in",
    "check_replaceable",
    "claimed",
    "part_of_file_name",
    "prepare_folder",
    "read_results",
    "remove_pictures",
    "require_own",
    "write_atomically",
]
