"""Index of mean goodputs: the files of published tables that have some of a built-in scenario.

To read all tables takes seconds, because the scenarios that they name are loaded to check them. So
`goodput_index.json` is next to this module, and a test compares it with the tables. After a change
of these, `python tests/goodput_index.py` writes it anew.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path

from celltcp.publications.published_table import Published, Table

#: File with the index.
INDEX = Path(__file__).with_suffix(".json")


@functools.cache
def indexed() -> dict[str, list[str]]:
    """Returns the names of the files by scenario, both in order."""
    result: dict[str, list[str]] = json.loads(INDEX.read_text("utf-8"))
    return result


def goodputs(table: Table) -> list[Published]:
    """Returns the mean goodputs of a table that were measured on scenarios as they are built in."""
    return [
        entry
        for entry in table.entries
        if entry.quantity == "goodput"
        and not entry.part
        and entry.value is not None
        and table.place(entry.scenario).scenario == entry.scenario
    ]
