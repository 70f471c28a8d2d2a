"""Results of which tests make reports, and pages taken apart."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure as Picture

import celltcp as ct
from celltcp.present.chart import Chart, Numbers, Panel, Series
from celltcp.present.page import page_of
from celltcp.present.section import Figure, Part, Section


def compared(folder: Path, **other: object) -> Path:
    """Compares two CCAs in two short runs each."""
    settings = {"scenario": "drive", "cca": "cubic,bbr", "runs": 2, "duration": "3s", **other}
    ct.compare(**settings, out=folder)  # type: ignore[arg-type]
    return folder


def drawn() -> Picture:
    """A picture that stands for any other."""
    picture = Picture(figsize=(4, 2))
    picture.add_subplot().plot([0, 1], color="#0072B2")
    return picture


def page_with(places: Numbers, *values: Numbers) -> str:
    """The page of a chart with a panel for each column."""
    panels = tuple(
        Panel(f"goodput {number}", "Mbit/s", (Series("cubic", "#0072B2", each),))
        for number, each in enumerate(values, 1)
    )
    chart = Chart(places, "time", "s", panels)
    section = Section("Over time", figure=Figure(drawn, "goodput", chart.thinned()))
    return page_of([Part("made up", "What?", (), (section,))], "made up", "celltcp report r")


def walk(count: int) -> Numbers:
    """Values that wander as those of connections do."""
    return np.abs(np.cumsum(np.random.default_rng(1).normal(size=count)))


class Taken(HTMLParser):
    """A page taken apart: elements with their attributes, and the text of each kind."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        while self._open and self._open.pop() != tag:
            pass

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self._open[-1] if self._open else "", []).append(data)

    def count(self, tag: str) -> int:
        """Number of elements of a kind."""
        return sum(each == tag for each, _ in self.elements)

    def text(self, tag: str) -> str:
        """All text that stands in elements of a kind."""
        return " ".join(self.texts.get(tag, ()))
