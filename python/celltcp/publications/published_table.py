"""Published tables and figures, and their entries."""

from __future__ import annotations

import math
from dataclasses import dataclass

from celltcp.publications.claims import Claim
from celltcp.publications.conditions import Condition
from celltcp.publications.grids import Grid

#: Kinds of intervals.
INTERVALS = ("runs", "slots")

#: Forms of pictures: bars next to published ones, spider plots of all quantities, quantities over time,
#: over the place on the way, distributions of slots or of connections, values by zone, changes of the
#: MCS from block to block, points of one quantity against another, a list of claims, lines over an
#: axis of a grid, legs of split connections over time, a table of words, gain and cost of splits,
#: quantities over the number of UEs in the names of places, with distributions, or bars
#: of all places, a panel per quantity.
FORMS = (
    *("bars", "spider", "time", "position", "ecdf", "zones", "transitions", "scatter"),
    *("verdicts", "gains", "legs", "capabilities", "choices", "load", "places"),
)

#: In the column `cca`: the best CCA of each phase by the quantity, one after another (see `switching`).
SELECTION = "selection"


@dataclass(frozen=True)
class Cell:
    """Cell of a printed table whose entries are words, such as a capability of a scheme."""

    line: str
    column: str
    #: Text of the publication.
    published_text: str
    #: Reason why celltcp has another text; empty if it is the same.
    why: str = ""


@dataclass(frozen=True)
class Published:
    """A published value with the half width of its 95 % interval."""

    scenario: str
    cca: str
    quantity: str
    unit: str
    #: Phase of the way; empty for all of it.
    phase: str
    #: None where a figure shows it without a number.
    value: float | None
    ci95: float | None
    note: str = ""
    #: Time window of the run, s; None for all.
    window: tuple[float, float] | None = None
    #: Range of the zone (MCS or SINR) that the figure is about; None for all.
    zone: tuple[float, float] | None = None
    #: Statement of the publication in words, as a relation.
    claim: Claim | None = None
    #: Its cell in a capability table.
    cell: Cell | None = None

    @property
    def criterion(self) -> str:
        """The quantity by which the CCAs of a selection are chosen."""
        return self.quantity.removeprefix("gain_")

    @property
    def source(self) -> str:
        """Name of the runs: the place, for a selection with its criterion."""
        if self.cca != SELECTION:
            return self.scenario
        return f"{self.scenario}, {SELECTION} by {self.criterion}"

    @property
    def part(self) -> str:
        """Phase, window and zone, in words; empty for the whole."""
        window = f"{_words(self.window)} s" if self.window else ""
        zone = _words(self.zone) if self.zone else ""
        return ", ".join(each for each in (self.phase, window, zone) if each)


def _words(ends: tuple[float, float]) -> str:
    """Returns a range in words."""
    low, high = ends
    if low == -math.inf:
        return f"below {high:g}"
    if high == math.inf:
        return f"from {low:g}"
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"


@dataclass(frozen=True)
class Table:
    """A published table or figure."""

    publication: str
    #: Name on the command line.
    experiment: str
    #: Name in the publication, such as "table 1".
    figure: str
    title: str
    #: Kind of its intervals, one of `INTERVALS`.
    interval: str
    #: Form of its picture, one of `FORMS`.
    form: str
    note: str
    entries: tuple[Published, ...]
    #: Scenarios with changes, by their names in the entries.
    named_places: tuple[Condition, ...] = ()
    #: Its places by the values of axes; None where it has no axes.
    grid: Grid | None = None
    #: Whether it runs only by its name.
    named_only: bool = False
    #: Cells of a capability table, also those about middleboxes that this build lacks.
    cells: tuple[Cell, ...] = ()

    def place(self, name: str) -> Condition:
        """Returns the place of a name: one of the table's own, or a scenario."""
        return next(
            (named_place for named_place in self.named_places if named_place.name == name),
            Condition(name, name),
        )

    @property
    def scenarios(self) -> list[str]:
        """The places, in the order of the file, with those that claims refer to."""
        own = [entry.scenario for entry in self.entries]
        referred = [entry.claim.place for entry in self.entries if entry.claim and entry.claim.place]
        return list(dict.fromkeys([*own, *referred]))
