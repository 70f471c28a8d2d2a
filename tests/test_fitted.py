"""Tables in the width of a terminal."""

from __future__ import annotations

import io
import re
from dataclasses import replace

import pytest

import celltcp as ct
from celltcp.comparison.tables import droppable_columns, means_table
from celltcp.present.section import Column, Table, number_columns
from celltcp.present.terminal import Terminal

TABLE = Table(
    (
        Column("scenario"),
        *number_columns("a long heading\nMbit/s"),
        Column("why"),
        *number_columns("retrans-\nmissions"),
    ),
    (
        ("forward-300-low", "12.34 ±0.56", "a sentence that is wrapped between words", "17"),
        ("drive", "1.2", "none", "1234567.8"),
    ),
    "Outcome",
)


class Window(io.StringIO):
    """A file that says that it is a terminal."""

    def isatty(self) -> bool:
        return True


def shown(table: Table, width: int, *, in_window: bool = False) -> str:
    file = Window() if in_window else io.StringIO()
    console = Terminal(width, file)
    console.width = width
    console.print_table(table)
    return re.sub(r"\x1b\[[\d;]*m", "", file.getvalue())


def printed(width: int, droppable: tuple[str, ...] = (), *, in_window: bool = True) -> str:
    return shown(replace(TABLE, droppable=droppable), width, in_window=in_window)


def test_texts_and_headings_are_wrapped_and_numbers_are_not() -> None:
    text = printed(66)
    assert max(map(len, text.splitlines())) <= 66
    for whole in ("forward-300-low", "12.34 ±0.56", "sentence", "1234567.8"):
        assert whole in text
    assert "a sentence that is wrapped between words" not in text
    assert "…" not in text
    assert "a sentence that is wrapped between words" in printed(120)


def test_columns_are_left_out_by_importance_and_named() -> None:
    text = printed(50, ("retransmissions", "why"))
    assert max(map(len, text.splitlines())) <= 50
    hint = "Columns omitted (a wider terminal, a pipe such as | cat, or --json has them)"
    assert f"{hint}: retransmissions" in " ".join(text.split())
    assert "sentence" in text
    fewest = printed(42, ("retransmissions", "why"))
    assert "retransmissions, why" in " ".join(fewest.split()).partition("--json has them):")[2]
    assert "Columns omitted" not in printed(120, ("retransmissions", "why"))


@pytest.mark.parametrize("width", range(42, 70, 3))
def test_a_pipe_or_file_has_all_columns_once_whatever_its_width(width: int) -> None:
    text = printed(width, ("retransmissions", "why"), in_window=False)
    assert "Columns omitted" not in text
    assert text.count("1234567.8") == text.count("wrapped") == text.count("±0.56") == 1
    assert text.count("Outcome") == 1
    assert max(map(len, text.splitlines())) <= width


def test_no_column_is_left_out_by_which_there_is_a_verdict() -> None:
    result = ct.compare("drive", ["cubic", "bbr"], 2, duration="3s")
    assert droppable_columns([result]) == ("retransmissions", "rtt_p95_ms", "induced_delay_ms")
    assert "induced_delay_ms" not in droppable_columns([result], ["induced_delay_ms"])
    text = " ".join(shown(means_table(result), 90, in_window=True).split())
    assert text.partition("--json has them):")[2].split()[0].startswith("retrans")
    # A single CCA has no verdict: what PM is made of says more.
    assert droppable_columns([result["bbr"]])[-1] == "induced_delay_ms"


def test_numbers_are_wrapped_before_their_intervals_rather_than_words_cut() -> None:
    text = printed(54)
    assert max(map(len, text.splitlines())) <= 54
    for whole in ("forward-300-low", "12.34", "±0.56", "sentence", "1234567.8"):
        assert whole in text
    assert "12.34 ±0.56" not in text
    assert "…" not in text


@pytest.mark.parametrize("frame", ["box", "head", "dense", "none"])
@pytest.mark.parametrize("text", ["[bold]S[/bold] <mss 1460>", "[fd00:2::20]:443", "in :car: [3]"])
def test_what_is_data_is_no_markup(text: str, frame) -> None:
    columns = (Column(f"segment {text}"), Column("why"))
    lines = shown(Table(columns, ((text, "-"),), f"of {text}", frame=frame), 100)
    assert all(whole in lines for whole in (f"segment {text}", f"of {text}", f"{text} "))
    file = io.StringIO()
    Terminal(100, file).print(f"server {text}")
    assert file.getvalue() == f"server {text}\n"


def test_a_table_that_does_not_fit_stands_in_parts_with_the_heads_of_its_rows() -> None:
    figures = tuple(f"figure{n}\nms" for n in range(9))
    rows = tuple((cca, "16kB", *[f"1234.5{n} ±{n}.1" for n in range(9)]) for cca in ("cubic", "bbr"))
    table = Table(
        (Column("CCA"), Column("tcp.notsent_lowat"), *number_columns(*figures)), rows, "Outcome"
    )
    text = shown(table, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert "…" not in text
    assert text.count("Outcome") == 1
    parts = text.count("tcp.notsent_lowat")
    assert parts > 1
    assert text.count("cubic") == text.count("16kB") / 2 == parts
    for column in range(9):
        assert text.count(f"figure{column}") == 1
        assert text.count(f"1234.5{column} ±{column}.1") == 2


@pytest.mark.parametrize(("stated", "width"), [("200", 200), ("wide", 120), (None, 120)])
def test_a_file_has_the_width_that_its_environment_names(monkeypatch, stated, width) -> None:
    if stated:
        monkeypatch.setenv("COLUMNS", stated)
    assert Terminal(file=io.StringIO()).width == width
    assert Terminal(66, io.StringIO()).width == 66


def test_columns_without_a_number_are_left_out_before_those_with_numbers() -> None:
    columns = (Column("scenario"), *number_columns("median", "p95 of a long heading"))
    table = Table(columns, (("drive", "1.25", "-"), ("home", "2.50", "-")), droppable=("median",))
    text = shown(table, 24, in_window=True)
    assert "2.50" in text
    assert "p95" not in text.partition("Columns omitted")[0]
    # Where there is room, they say that there is no number.
    assert "p95" in shown(table, 60)
    # A number in one row keeps a column.
    known = replace(table, rows=(("drive", "1.25", "-"), ("home", "2.50", "7.5")))
    assert "7.5" in shown(known, 24)
