"""Compares a CSV of ns-3's side with one of ours.

python3 compare.py NS3.csv OURS.csv
Both have the columns prbs, sinr_db, rlc and mbps (a saturated downlink), or cca, prbs, rlc,
goodput_mbps, rtt_mean_ms and retransmissions (a greedy flow); others are ignored, except `amc`: rows
of ns-3 for another AMC than `mi` do not count.
"""

from __future__ import annotations

import argparse
import csv
import math
import sys
from dataclasses import dataclass
from pathlib import Path

Key = tuple[str | float, ...]
Figures = dict[Key, tuple[float, ...]]


class InputError(Exception):
    """A file that does not say what it should; the message names file, line and column."""


@dataclass(frozen=True)
class Table:
    """A kind of table: what tells its rows apart, and the figures to compare."""

    names: tuple[str, ...]
    numbers: tuple[str, ...]
    figures: tuple[str, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them, in the order of a key followed by the figures."""
        return self.names + self.numbers + self.figures


SATURATED = Table(("rlc",), ("prbs", "sinr_db"), ("mbps",))
GREEDY = Table(("cca", "rlc"), ("prbs",), ("goodput_mbps", "rtt_mean_ms", "retransmissions"))


def kind(path: Path, header: list[str]) -> Table:
    """Returns the table that has these columns."""
    for table in (SATURATED, GREEDY):
        if set(table.columns) <= set(header):
            return table
    wanted = " or ".join(", ".join(table.columns) for table in (SATURATED, GREEDY))
    raise InputError(f"{path}:1: columns must be {wanted}")


def number(path: Path, line: int, column: str, text: str | None) -> float:
    """A finite number."""
    try:
        value = float(text or "")
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise InputError(f"{path}:{line}: {column} {text!r} must be a number")
    return value


def read(path: Path) -> tuple[Table, Figures]:
    """The figures of a file by what tells its rows apart."""
    figures: Figures = {}
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        table = kind(path, list(reader.fieldnames or []))
        for row in reader:
            if row.get("amc", "mi") != "mi":
                continue
            line = reader.line_num
            key: Key = tuple(row[name] for name in table.names)
            key += tuple(number(path, line, name, row[name]) for name in table.numbers)
            if key in figures:
                raise InputError(f"{path}:{line}: a second row for {label(table, key)}")
            figures[key] = tuple(number(path, line, name, row[name]) for name in table.figures)
    return table, figures


def label(table: Table, key: Key) -> str:
    """A key in words."""
    values = (f"{value:g}" if isinstance(value, float) else value for value in key)
    names = table.names + table.numbers
    return " ".join(f"{name}={value}" for name, value in zip(names, values, strict=True))


def compare(table: Table, theirs: Figures, ours: Figures) -> list[str]:
    """One line for each figure of the rows that both have: ns-3, celltcp, difference."""
    lines = []
    for key in (key for key in theirs if key in ours):
        for name, reference, figure in zip(table.figures, theirs[key], ours[key], strict=True):
            difference = f"{figure / reference - 1:+8.1%}" if reference else " " * 8
            lines.append(
                f"{label(table, key):36} {name:16} {reference:10.3f} {figure:10.3f} {difference}"
            )
    return lines


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("ns3", type=Path, help="results.csv or results-tcp.csv")
    parser.add_argument("ours", type=Path, help="the same columns, measured by celltcp")
    arguments = parser.parse_args()
    try:
        table, theirs = read(arguments.ns3)
        other, ours = read(arguments.ours)
        if table != other:
            raise InputError(f"{arguments.ours}: columns must be {', '.join(table.columns)}")
        lines = compare(table, theirs, ours)
        if not lines:
            raise InputError(f"{arguments.ours}: no row has its like in {arguments.ns3}")
    except (InputError, OSError) as error:
        print(f"compare.py: {error}", file=sys.stderr)
        return 2
    print(f"{'':36} {'':16} {'ns-3':>10} {'celltcp':>10} {'':>8}")
    print("\n".join(lines))
    missing = [label(table, key) for key in theirs if key not in ours]
    if missing:
        print(f"not in {arguments.ours}: {'; '.join(missing)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
