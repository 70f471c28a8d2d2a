"""Sections of reports: title, texts, table and figure, which terminal, Markdown, PDF and HTML render.

Cells of tables are texts; `estimate_text` and others format numbers for them.
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

#: Text of the mean of times that include an infinite one.
INFINITE = "∞"
#: Text before a mean that is a lower bound.
AT_LEAST = "≥ "
#: Digits of rates, and the mean below which they would show hardly any.
_RATE_DIGITS, _MAX_LOW_RATE = 2, 0.1
#: Digits of times in s, and the range of means of which they would show hardly any.
_TIME_DIGITS, _MIN_TIME, _MAX_SHORT_TIME = 3, 1e-6, 0.01
#: Number of further digits of a mean whose interval is narrow.
_MORE_DIGITS = 1
#: Mean from which a digit after the point says nothing.
_MIN_WHOLE = 1000.0
#: Percentages are shares of one whole if their sum differs from 100 by less than this.
_SUM_TOLERANCE = 0.5


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
        """The heading on one line, with words that a hyphen divides at a line end put together."""
        return " ".join(self.heading.split()).replace("- ", "")


def number_columns(*headings: str) -> tuple[Column, ...]:
    """Returns columns of numbers."""
    return tuple(Column(heading, is_number=True) for heading in headings)


@dataclass(frozen=True)
class Table:
    """A table of texts."""

    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    #: Indices of the last rows of groups; a line or a space follows each.
    group_ends: frozenset[int] = frozenset()
    #: Indices of the rows in bold.
    bold: frozenset[int] = frozenset()
    #: Footnotes: what marks mean, and what limits the figures.
    notes: tuple[str, ...] = ()
    #: The CCA whose colour a cell has, by the text of the cell.
    cca_of_cell: Mapping[str, str] = field(default_factory=dict)
    #: Lines on the terminal: all, one below the head, the same without space between columns, or none.
    frame: Literal["box", "head", "dense", "none"] = "box"
    #: Names of the columns that a narrow terminal omits, the least important first.
    droppable: tuple[str, ...] = ()

    def without(self, names: Collection[str]) -> Table:
        """Returns the table without the columns of these names."""
        columns = enumerate(self.columns)
        return self.select(
            [index for index, column in columns if (column.name or column.title) not in names]
        )

    def parts(self, widths: Sequence[float], max_width: float) -> list[Table]:
        """Returns parts of the table that fit into a width; each has all columns of texts."""
        texts = [index for index, column in enumerate(self.columns) if not column.is_number]
        max_width -= sum(widths[index] for index in texts)
        parts: list[list[int]] = [[]]
        for index in (index for index in range(len(widths)) if index not in texts):
            if parts[-1] and sum(widths[each] for each in (*parts[-1], index)) > max_width:
                parts.append([])
            parts[-1].append(index)
        return [self.select(sorted((*texts, *part))) for part in parts]

    def select(self, indices: Sequence[int]) -> Table:
        """Returns the table with only these columns."""
        return replace(
            self,
            columns=tuple(self.columns[index] for index in indices),
            rows=tuple(tuple(row[index] for index in indices) for row in self.rows),
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

    #: Sentence about the destination of the lines.
    caption: str
    text: str


@dataclass(frozen=True)
class Section:
    """A section of a report; all but the title may be missing."""

    title: str
    table: Table | None = None
    figure: Figure | None = None
    #: Paragraphs between title and table.
    text: tuple[str, ...] = ()
    #: Verbatim text, such as a file or a command, and the file name for it.
    code: str = ""
    file: str = ""
    #: Blocks of lines to be copied, each separately.
    blocks: tuple[Block, ...] = ()
    #: Whether the section opens only on demand.
    is_folded: bool = False
    #: Whether the section belongs on the first page.
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
    """The part of a report about one folder of results."""

    title: str
    #: Question that the results answer.
    question: str
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    warnings: tuple[str, ...] = ()
    #: Answer in one sentence or two; empty for none.
    answer: str = ""


def mean_text(values: Iterable[float], digits: int) -> str:
    """Returns the mean and half the width of its 95 % interval as text.

    Without a value it is `-`. It is `∞` if a value is infinite, as the time of an unfinished transfer.
    """
    return estimate_text(estimate([float(value) for value in values]), digits)


def value_text(value: float | None, digits: int) -> str:
    """Returns a value as text; `-` for none or NaN, `∞` for an infinite time."""
    return estimate_text(Estimate(math.nan if value is None else value, None), digits)


def estimate_text(estimate: Estimate, digits: int) -> str:
    """Returns a mean and half the width of its 95 % interval as text, as `mean_text` does.

    A mean below 0.1 with two digits has four: a slow link has rates of some kbit/s. One below 0.01 with
    three digits, such as a time in a data center in s, has three significant ones. A mean of 1000 or
    more with one digit, such as a long delay in ms, has none. A lower bound follows `≥`, and has no
    interval. Where half the width would leave the range of the quantity, the interval has its ends.
    Half a width that would be 0 has one more digit. If that is 0, too, all runs are equal, as without
    an interval.
    """
    if digits == _TIME_DIGITS and _MIN_TIME <= abs(estimate.mean) < _MAX_SHORT_TIME:
        digits -= math.floor(math.log10(abs(estimate.mean))) + 1
    if digits == _RATE_DIGITS and 0 < abs(estimate.mean) < _MAX_LOW_RATE:
        digits += 2
    if digits == 1 and abs(estimate.mean) >= _MIN_WHOLE:
        digits = 0
    if math.isnan(estimate.mean):
        return "-"
    if math.isinf(estimate.mean):
        return INFINITE
    if estimate.is_bound:
        return f"{AT_LEAST}{estimate.mean:.{digits}f}"
    spread = ""
    if estimate.ci95 and estimate.ends is None:
        if not round(estimate.ci95, digits) and round(estimate.ci95, digits + _MORE_DIGITS):
            digits += _MORE_DIGITS
        spread = f" ±{estimate.ci95:.{digits}f}" if round(estimate.ci95, digits) else ""
    if estimate.ends is not None:
        low, high = estimate.ends
        # Two significant digits of its width.
        digits_of_ends = min(digits, max(1 - math.floor(math.log10(high - low)), 0))
        spread = f" ({low:.{digits_of_ends}f}\u2013{high:.{digits_of_ends}f})"
    return f"{estimate.mean:.{digits}f}{spread}"


def runs_text(runs: int) -> str:
    """Returns a number of runs as text, such as `1 run` or `2 runs`."""
    return count_text(runs, "run")


def percent_text(value: float, half_width: float, digits: int = 1) -> str:
    """Returns a percentage with its sign, and half the width of its interval unless that is NaN."""
    if math.isnan(value):
        return "-"
    # Zero has no sign.
    text = f"{round(value, digits) + 0.0:+.{digits}f}"
    return text if math.isnan(half_width) else f"{text} ±{half_width:.{digits}f}"


def whole_percents(shares: Sequence[float]) -> list[str]:
    """Returns shares in per cent as whole numbers, which add up to 100 if the shares are a whole.

    Then each is rounded down, and those with the largest remainders up, until the sum is right (method
    of largest remainders). Unknown shares (NaN) are `-`.
    """
    exact = {index: 100 * share for index, share in enumerate(shares) if not math.isnan(share)}
    whole = {index: round(value) for index, value in exact.items()}
    if abs(math.fsum(exact.values()) - 100) < _SUM_TOLERANCE:
        whole = {index: math.floor(value) for index, value in exact.items()}
        order = sorted(exact, key=lambda index: whole[index] - exact[index])
        for index in order[: 100 - sum(whole.values())]:
            whole[index] += 1
    return [str(whole.get(index, "-")) for index in range(len(shares))]
