"""Tables in the width of a terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console
from rich.table import Table

from celltcp.present.fit_table import print_table


def printed(width: int, droppable: tuple[str, ...] = ()) -> str:
    table = Table(title="Outcome")
    table.add_column("scenario")
    table.add_column("a long heading\nMbit/s", justify="right")
    table.add_column("why")
    table.add_column("retrans-\nmissions", justify="right")
    table.add_row("forward-300-low", "12.34 ±0.56", "a sentence that is wrapped between words", "17")
    table.add_row("drive", "1.2", "none", "1234567.8")
    console = Console(width=width, highlight=False, file=io.StringIO())
    print_table(console, table, droppable)
    return console.file.getvalue()  # type: ignore[attr-defined]


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
    assert "Columns omitted (terminal too narrow): retransmissions" in " ".join(text.split())
    assert "sentence" in text
    fewest = printed(42, ("retransmissions", "why"))
    assert "retransmissions, why" in " ".join(fewest.split()).partition("(terminal too narrow):")[2]
    assert "Columns omitted" not in printed(120, ("retransmissions", "why"))


def test_numbers_are_wrapped_before_their_intervals_rather_than_words_cut() -> None:
    text = printed(54)
    assert max(map(len, text.splitlines())) <= 54
    for whole in ("forward-300-low", "12.34", "±0.56", "sentence", "1234567.8"):
        assert whole in text
    assert "12.34 ±0.56" not in text
    assert "…" not in text


@pytest.mark.parametrize("markup", [True, False])
def test_brackets_are_markup_only_where_that_is_wanted(markup: bool) -> None:
    table = Table()
    table.add_column("segment")
    table.add_row("[bold]S[/bold] <mss 1460>")
    console = Console(width=60, file=io.StringIO())
    print_table(console, table, markup=markup)
    assert ("[bold]" in console.file.getvalue()) != markup  # type: ignore[attr-defined]
