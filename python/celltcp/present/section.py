"""Section: a title with words, a table and a figure, which the terminal, Markdown and HTML render.

Cells of tables are texts, for which there are functions that write means with their intervals.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from celltcp.results.statistics import Estimate, estimate
from celltcp.scenarios.cca_mix import count_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from matplotlib.figure import Figure as Picture

    from celltcp.present.chart import Chart

#: Text of a mean with infinite times.
INFINITE = "∞"
#: Maximum distance from 100 of percentages that add up to a whole.
_WHOLE = 0.5


@dataclass(frozen=True)
class Column:
    """A column of a table."""

    #: Heading; the terminal breaks it at line ends.
    heading: str
    #: Whether it has numbers, which are right-aligned and wrapped last.
    is_number: bool = False
    #: Whether a narrow terminal breaks its texts within words.
    folds: bool = False
    #: Name in the list of columns that a narrow terminal omits, if that is not its title.
    name: str = ""
    #: Whether a narrow terminal wraps neither its heading nor its texts, such as names to be copied.
    no_wrap: bool = False

    @property
    def title(self) -> str:
        """The heading on one line, with a word that its lines part put together."""
        return " ".join(self.heading.split()).replace("- ", "")


def number_columns(*headings: str) -> tuple[Column, ...]:
    """Returns columns of numbers."""
    return tuple(Column(heading, is_number=True) for heading in headings)


@dataclass(frozen=True)
class Table:
    """Columns, and rows of texts."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    #: Numbers of the rows after which a block ends.
    ends: frozenset[int] = frozenset()
    #: Numbers of the rows that stand out.
    bold: frozenset[int] = frozenset()
    #: CCAs by the cells with their names, which have the colours of the CCAs if there are colours.
    ccas: Mapping[str, str] = field(default_factory=dict)
    #: Lines on the terminal: all, one below the head, the same without space between columns, or none.
    frame: Literal["box", "head", "dense", "none"] = "box"
    #: Names of the columns that a narrow terminal omits, the least important first.
    droppable: tuple[str, ...] = ()

    def without(self, names: Collection[str]) -> Table:
        """Returns the table without the columns of these names."""
        places = [
            index
            for index, column in enumerate(self.columns)
            if (column.name or column.title) not in names
        ]
        return self._only(places)

    def parts(self, widths: Sequence[float], room: float) -> list[Table]:
        """Returns parts of the table that fit into a room; each has all columns of texts.

        Args:
            widths: width of each column.
            room: width that a part may have.
        """
        texts = [index for index, column in enumerate(self.columns) if not column.is_number]
        room -= sum(widths[place] for place in texts)
        parts: list[list[int]] = [[]]
        for place in (index for index in range(len(widths)) if index not in texts):
            if parts[-1] and sum(widths[each] for each in (*parts[-1], place)) > room:
                parts.append([])
            parts[-1].append(place)
        return [self._only(sorted((*texts, *part))) for part in parts]

    def _only(self, places: Sequence[int]) -> Table:
        return replace(
            self,
            columns=tuple(self.columns[place] for place in places),
            rows=tuple(tuple(row[place] for place in places) for row in self.rows),
        )


@dataclass(frozen=True)
class Figure:
    """A picture, and the chart that replaces it in pages with scripts."""

    #: Draws the static picture, for paper and pages without scripts.
    draw: Callable[[], Picture]
    #: Text for readers who do not see the picture.
    alternative: str
    chart: Chart | None = None


class Block(NamedTuple):
    """Lines to be copied together, into one file or one shell."""

    #: Their destination, in a sentence.
    caption: str
    text: str


@dataclass(frozen=True)
class Section:
    """A part of a report; each of its parts may be missing."""

    title: str
    table: Table | None = None
    figure: Figure | None = None
    #: Paragraphs between title and table.
    text: tuple[str, ...] = ()
    #: Verbatim text, such as a file or a command, and the name of its file.
    code: str = ""
    file: str = ""
    #: Blocks of lines to be copied, each separately.
    blocks: tuple[Block, ...] = ()
    #: Whether the section opens only on demand.
    is_folded: bool = False
    #: Whether it belongs to the first page.
    is_front: bool = False


@dataclass(frozen=True)
class Finding:
    """Finding of a report: question, answer, effect size and confidence."""

    question: str
    answer: str
    effect_size: str = ""
    confidence: str = ""
    #: `"decided"`, `"tied"` or `"undecided"`.
    state: str = "decided"
    colour: str = ""


@dataclass(frozen=True)
class Part:
    """The part of a report that is about one folder of results."""

    title: str
    #: Question that the results answer, in a sentence.
    question: str
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()
    #: Answer in a sentence or two.
    answer: str = ""


def mean_text(values: Iterable[float], digits: int) -> str:
    """Returns the mean and half the width of its 95 % interval as text.

    Without a value it is `-`. The mean is `∞` where a time has no end in a run.
    """
    return estimate_text(estimate([float(value) for value in values]), digits)


def estimate_text(estimate: Estimate, digits: int) -> str:
    """Returns a mean and half the width of its 95 % interval as text, as `mean_text` does."""
    if math.isnan(estimate.mean):
        return "-"
    if math.isinf(estimate.mean):
        return INFINITE
    spread = f" ±{estimate.ci95:.{digits}f}" if estimate.ci95 is not None else ""
    return f"{estimate.mean:.{digits}f}{spread}"


def runs_text(runs: int) -> str:
    """Returns a number of runs in words."""
    return count_text(runs, "run")


def percent_text(value: float, half: float, digits: int = 1) -> str:
    """Returns a percentage as text, with its interval where there is one."""
    if math.isnan(value):
        return "-"
    # Zero has no sign.
    text = f"{round(value, digits) + 0.0:+.{digits}f}"
    return text if math.isnan(half) else f"{text} ±{half:.{digits}f}"


def whole_percents(shares: Sequence[float]) -> list[str]:
    """Returns shares in per cent as whole numbers; those of a whole add up to 100.

    Each is rounded down, and those with the largest remainders up, until the sum is right (method of
    largest remainders). Shares that are not known are `-`. Those of less than a whole are rounded each.
    """
    known = [index for index, share in enumerate(shares) if not math.isnan(share)]
    exact = {place: 100 * shares[place] for place in known}
    texts = ["-"] * len(shares)
    total = math.fsum(exact.values())
    whole = {place: math.floor(value) for place, value in exact.items()}
    if abs(total - 100) < _WHOLE:
        order = sorted(known, key=lambda place: whole[place] - exact[place])
        for place in order[: 100 - sum(whole.values())]:
            whole[place] += 1
    else:
        whole = {place: round(value) for place, value in exact.items()}
    for place, value in whole.items():
        texts[place] = str(value)
    return texts
