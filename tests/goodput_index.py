"""Index of mean goodputs, from the published tables; run as a program, it writes the index anew."""

from __future__ import annotations

import json

from celltcp.publications.goodput_index import INDEX, goodputs
from celltcp.publications.published import table_files, tables_in


def scanned() -> dict[str, list[str]]:
    """The names of the files that have some of a built-in scenario, both in order."""
    result: dict[str, list[str]] = {}
    for file in table_files():
        scenarios = {each.scenario for table in tables_in(file) for each in goodputs(table)}
        for scenario in scenarios:
            result.setdefault(scenario, []).append(file.name)
    return dict(sorted(result.items()))


if __name__ == "__main__":
    INDEX.write_text(json.dumps(scanned(), indent=1) + "\n", "utf-8")
