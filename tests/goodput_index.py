"""Index of the published tables with mean goodputs; run as a program, it writes the index file."""

from __future__ import annotations

import json

from celltcp.publications.goodput_index import INDEX, goodput_entries
from celltcp.publications.published import table_files, tables_in


def index_of_tables() -> dict[str, list[str]]:
    """Returns names of files with mean goodputs by built-in scenario, all sorted."""
    result: dict[str, list[str]] = {}
    for file in table_files():
        scenarios = {each.scenario for table in tables_in(file) for each in goodput_entries(table)}
        for scenario in scenarios:
            result.setdefault(scenario, []).append(file.name)
    return dict(sorted(result.items()))


if __name__ == "__main__":
    INDEX.write_text(json.dumps(index_of_tables(), indent=1) + "\n", "utf-8")
