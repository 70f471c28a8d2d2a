"""Tests of the output and the errors of compare.py."""

from pathlib import Path

import compare
import pytest

NS3 = """prbs,sinr_db,rlc,amc,mbps,mcs
25,10,am,mi,6.0,14
25,10,am,piro,4.7,12
25,15,am,mi,9.5,20
"""


def read(folder: Path, text: str) -> tuple[compare.Table, compare.Figures]:
    """Through a file."""
    path = folder / "a.csv"
    path.write_text(text)
    return compare.read(path)


def test_rows_are_matched_by_set_up_whatever_their_order(tmp_path: Path) -> None:
    """Other columns and the other AMC do not count."""
    table, theirs = read(tmp_path, NS3)
    _, ours = read(tmp_path, "mbps,rlc,sinr_db,prbs\n9.5,am,15.0,25\n6.6,am,10,25\n1,um,10,25\n")
    lines = compare.compare(table, theirs, ours)
    assert [line.split()[-3:] for line in lines] == [
        ["6.000", "6.600", "+10.0%"],
        ["9.500", "9.500", "+0.0%"],
    ]


def test_a_second_row_for_a_set_up_is_refused(tmp_path: Path) -> None:
    """Two rows for one set-up are ambiguous."""
    with pytest.raises(
        compare.InputError, match=r"a\.csv:5: a second row for rlc=am prbs=25 sinr_db=15"
    ):
        read(tmp_path, NS3 + "25,15,am,mi,9.4,20\n")


@pytest.mark.parametrize("value", ["fast", "", "nan"])
def test_a_figure_must_be_a_number(tmp_path: Path, value: str) -> None:
    """The message names file, line and column."""
    with pytest.raises(compare.InputError, match=r"a\.csv:2: mbps '.*' must be a number"):
        read(tmp_path, NS3.replace("6.0", value))


def test_a_table_of_something_else_is_refused(tmp_path: Path) -> None:
    """The message names the columns that are wanted."""
    with pytest.raises(
        compare.InputError, match=r"a\.csv:1: columns must be rlc, prbs, sinr_db, mbps or"
    ):
        read(tmp_path, "time,rate\n1,2\n")
