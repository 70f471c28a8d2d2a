"""Results: the tables of a campaign, how they were made, and the folder that keeps them."""

from __future__ import annotations

from celltcp.results.checked import read_checked
from celltcp.results.claim import (
    check_pictures,
    check_replaceable,
    check_results,
    check_runs,
    claimed,
    keys_of_parts,
)
from celltcp.results.folder import about_in, part_of_file_name, prepare_folder, require_own
from celltcp.results.publishing import (
    finish_interrupted,
    list_files,
    listed_file,
    publish,
    remove_pictures,
)
from celltcp.results.tables import OPTIONAL, TABLES, Results, StoredTables, read_results
from celltcp.results.working import PARTS, UNFINISHED, remove_working, staging, working_folder

__all__ = [
    "OPTIONAL",
    "PARTS",
    "TABLES",
    "UNFINISHED",
    "Results",
    "StoredTables",
    "about_in",
    "check_pictures",
    "check_replaceable",
    "check_results",
    "check_runs",
    "claimed",
    "finish_interrupted",
    "keys_of_parts",
    "list_files",
    "listed_file",
    "part_of_file_name",
    "prepare_folder",
    "publish",
    "read_checked",
    "read_results",
    "remove_pictures",
    "remove_working",
    "require_own",
    "staging",
    "working_folder",
]
