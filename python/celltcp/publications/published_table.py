"""Published tables and figures, and their entries."""

from __future__ import annotations

import math
from dataclasses import dataclass

from celltcp.publications.claims import Claim
from celltcp.publications.conditions import Condition
from celltcp.publications.grids import Grid

#: Kinds of intervals.
INTERVALS = ("runs", "slots")

#: Forms of pictures; `plots` has a function for the panels of each.
FORMS = (
    *("bars", "spider", "time", "position", "ecdf", "zones", "transitions", "scatter"),
    *("verdicts", "gains", "legs", "capabilities", "choices", "load", "places"),
)

#: CCA of an entry about a selection: the best CCA of each phase, one after another (see `switching`).
SELECTION = "selection"


@dataclass(frozen=True)
class Cell:
    """Cell of a printed table of words, such as a capability of a scheme."""

    line: str
    column: str
    #: Text of the publication.
    published_text: str
    #: Reason why celltcp has another text; empty if it is the same.
    why: str = ""


@dataclass(frozen=True)
class Published:
    """Entry of a published table: a value, a claim, or a quantity to measure."""

    #: Name of its condition.
    scenario: str
    cca: str
    quantity: str
    unit: str
    #: Phase of the UE's movement; empty for the whole run.
    phase: str
    #: Published value; None if the publication has no number.
    value: float | None
    #: Half width of the 95 % interval of the value; None if it is not published.
    ci95: float | None
    note: str = ""
    #: Time window of the run, s; None for all.
    window: tuple[float, float] | None = None
    #: Zone of the value: a range of the MCS, the SINR (dB) or the number of handovers; None for all.
    zone: tuple[float, float] | None = None
    #: Statement of the publication, as a relation.
    claim: Claim | None = None
    #: Its cell in a capability table.
    cell: Cell | None = None

    @property
    def criterion(self) -> str:
        """The quantity by which a selection chooses CCAs."""
        return self.quantity.removeprefix("gain_")

    @property
    def source(self) -> str:
        """Name of its runs: that of the condition, and for a selection also its criterion."""
        if self.cca != SELECTION:
            return self.scenario
        return f"{self.scenario}, {SELECTION} by {self.criterion}"

    @property
    def part(self) -> str:
        """Phase, window and zone, in words; empty for the whole."""
        window = f"{_range_text(self.window)} s" if self.window else ""
        zone = _range_text(self.zone) if self.zone else ""
        return ", ".join(filter(None, (self.phase, window, zone)))


def _range_text(ends: tuple[float, float]) -> str:
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
    #: Conditions that the table defines.
    named_conditions: tuple[Condition, ...] = ()
    #: Its conditions by the values of axes; None where it has no axes.
    grid: Grid | None = None
    #: Whether it runs only if it is named on the command line.
    is_named_only: bool = False
    #: Cells of a capability table, also those about middleboxes that this build lacks.
    cells: tuple[Cell, ...] = ()

    def condition(self, name: str) -> Condition:
        """Returns the condition of a name: one of the table's own, or a scenario."""
        own = (condition for condition in self.named_conditions if condition.name == name)
        return next(own, Condition(name, name))

    @property
    def scenarios(self) -> list[str]:
        """Names of the conditions, in the order of the file, then of those that claims refer to."""
        own = [entry.scenario for entry in self.entries]
        claims = [entry.claim for entry in self.entries if entry.claim]
        return list(dict.fromkeys([*own, *(claim.condition for claim in claims if claim.condition)]))
