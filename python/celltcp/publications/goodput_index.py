"""Index of mean goodputs: files of published tables with goodputs, by built-in scenario.

Reading all tables takes seconds, because their scenarios are loaded to check them. So the index is
stored in `goodput_index.json`, and a test compares it with the tables. `python tests/goodput_index.py`
writes it again after a change of the tables.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

from celltcp.publications.published_table import Published, Table

#: File with the index.
INDEX = Path(__file__).with_suffix(".json")


@functools.cache
def goodput_files() -> dict[str, list[str]]:
    """Returns the names of the files by scenario, both in order."""
    files: dict[str, list[str]] = json.loads(INDEX.read_text("utf-8"))
    return files


def goodput_entries(table: Table) -> list[Published]:
    """Returns the mean goodputs of a table for built-in scenarios without changes."""
    return [
        entry
        for entry in table.entries
        if entry.quantity == "goodput"
        and not entry.part
        and entry.value is not None
        and table.condition(entry.scenario).scenario == entry.scenario
    ]
