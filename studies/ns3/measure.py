"""Runs the programs in `lte/` over all set-ups and keeps one CSV of each.

python3 measure.py [--build DIR] [--out DIR] [--jobs N]
Rows that are there already are kept, so an interrupted measurement goes on where it was.
"""

from __future__ import annotations

import argparse
import csv
import itertools
import subprocess
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent

Row = dict[str, str]


@dataclass(frozen=True)
class Measurement:
    """One program, the set-ups it is run with, and where its rows go.

    `setups` gives each field of a set-up its values; `options` renames those fields whose option of
    the program has another name than its column.
    """

    program: str
    file: str
    setups: dict[str, tuple[str, ...]]
    options: dict[str, str]

    def points(self) -> Iterator[Row]:
        """All set-ups, as the columns that tell rows apart."""
        for values in itertools.product(*self.setups.values()):
            yield dict(zip(self.setups, values, strict=True))

    def run(self, build: Path, point: Row) -> Row:
        """The row that the program prints for one set-up."""
        arguments = [f"--{self.options.get(field, field)}={value}" for field, value in point.items()]
        command = [str(build / self.program), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        rows = list(csv.DictReader(done.stdout.splitlines()))
        if done.returncode != 0 or len(rows) != 1:
            message = done.stderr.strip() or f"exit code {done.returncode}, {len(rows)} rows"
            raise MeasurementError(f"{' '.join(command)}: {message}")
        return rows[0]


class MeasurementError(Exception):
    """A program could not be built or run; the message says which and why."""


MEASUREMENTS = (
    Measurement(
        program="saturated",
        file="results.csv",
        setups={
            "prbs": ("25", "100"),
            "sinr_db": ("0", "5", "10", "15", "20", "25"),
            "rlc": ("am", "um"),
            "amc": ("mi", "piro"),
        },
        options={"sinr_db": "sinr"},
    ),
    Measurement(
        program="greedy",
        file="results-tcp.csv",
        setups={"cca": ("reno", "cubic", "bbr"), "prbs": ("100",), "rlc": ("am", "um")},
        options={},
    ),
)


def read(path: Path) -> list[Row]:
    """The rows of an earlier measurement, none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path: Path, rows: Iterable[Row]) -> None:
    """Replaces the file at once, so that it is never half-written."""
    rows = list(rows)
    part = path.with_name(path.name + ".part")
    with part.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    part.replace(path)


def show(rows: list[Row]) -> None:
    """Prints a table with aligned columns."""
    lines = [list(rows[0]), *(list(row.values()) for row in rows)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for line in lines:
        print("  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)))


def complete(measurement: Measurement, build: Path, out: Path, jobs: int) -> list[Row]:
    """Runs what is missing of one measurement; rows are in the order of the set-ups."""
    points = list(measurement.points())
    path = out / measurement.file
    result = [
        next((row for row in read(path) if point.items() <= row.items()), None) for point in points
    ]
    with ThreadPoolExecutor(jobs) as pool:
        running = {
            pool.submit(measurement.run, build, points[index]): index
            for index, row in enumerate(result)
            if row is None
        }
        try:
            for future in as_completed(running):
                result[running[future]] = future.result()
                write(path, (row for row in result if row is not None))
        finally:
            pool.shutdown(cancel_futures=True)
    return [row for row in result if row is not None]


def main() -> int:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE / "lte" / "build", help="where programs go")
    parser.add_argument("--out", type=Path, default=HERE, help="folder of the CSV files")
    parser.add_argument("--jobs", type=int, default=1, help="programs at a time")
    arguments = parser.parse_args()
    if arguments.jobs < 1:
        parser.error(f"--jobs {arguments.jobs} must be at least 1")
    build = arguments.build.resolve()
    try:
        make = subprocess.run(["make", "-s", "-C", HERE / "lte", f"BUILD={build}"], check=False)
        if make.returncode != 0:
            raise MeasurementError(
                "the programs in lte/ could not be built; README.md says what they need"
            )
        for measurement in MEASUREMENTS:
            show(complete(measurement, build, arguments.out, arguments.jobs))
    except (MeasurementError, OSError) as error:
        print(f"measure.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
