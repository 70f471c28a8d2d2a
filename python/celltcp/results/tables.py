"""Tables of a campaign, and data frames of them."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from celltcp._core import CelltcpError, result_tables
from celltcp.results.columns import rows_of

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.results.limits import FlowLimits

#: Tables of a campaign, each a Parquet file in a folder.
TABLES = tuple(table.name for table in result_tables())
#: Tables that exist only if something wrote rows to them.
OPTIONAL = tuple(table.name for table in result_tables() if table.optional)

_NO_SELECTION = (
    "since no congestion control was selected; --cca auto:policy=rules selects, "
    "auto:policy=fixed,cca=cubic only watches"
)
#: Tables in words, with the reason why results may lack them and the remedy.
_ABSENCES = {
    "radio": "log of the radio; the option --radio-log keeps one, as does radio.log in a scenario",
    "decisions": f"decisions, {_NO_SELECTION}",
    "estimates": f"estimates, {_NO_SELECTION}",
    "legs": "legs, since no connection was split; --middlebox of compare and path.middleboxes of a "
    "scenario place split hosts",
}


@dataclass(repr=False)
class Results:
    """All tables of a campaign, and its origin (`about`)."""

    tables: Mapping[str, pa.Table]
    about: dict[str, Any] = field(default_factory=dict)
    #: Whether the folder already had all results, so that nothing was run.
    is_repeat: bool = False

    def __repr__(self) -> str:
        rows = ", ".join(f"{name} {len(table)}" for name, table in self.tables.items())
        return f"<Results {self.about.get('name', 'of no known origin')}; rows: {rows}>"

    @functools.cached_property
    def lineups(self) -> dict[int, str]:
        """Congestion control or line-up of several flows of each run."""
        return dict(rows_of(self.tables["runs"], "run", "cca"))

    @property
    def has_recoveries(self) -> bool:
        """Whether some connection had to recover from losses."""
        return "recoveries" in self.tables and self.tables["recoveries"].num_rows > 0

    @functools.cached_property
    def flow_limits(self) -> list[FlowLimits]:
        """Shares of the time of each flow under each limit, by CCA or line-up."""
        from celltcp.results.limits import flow_limits

        return flow_limits(self)

    def save(self, folder: str | Path) -> Path:
        """Writes one Parquet file per table; each holds the scenario, versions and seeds.

        Raises:
            CelltcpError: if the folder cannot be written.
        """
        from celltcp.results.stored_tables import save_tables

        return save_tables(self.tables, self.about, folder)

    @property
    def radio(self) -> pa.Table:
        """The log of the radio; CelltcpError if none was recorded."""
        return self._table("radio")

    @property
    def decisions(self) -> pa.Table:
        """The decisions of selectors; CelltcpError if nothing was selected."""
        return self._table("decisions")

    @property
    def estimates(self) -> pa.Table:
        """The estimates of selectors; CelltcpError if nothing was selected."""
        return self._table("estimates")

    @property
    def legs(self) -> pa.Table:
        """The legs of split hosts; CelltcpError if no connection was split."""
        return self._table("legs")

    def _table(self, name: str) -> pa.Table:
        if name not in self.tables:
            raise CelltcpError(f"{self.about['name']}: these results hold no {_ABSENCES[name]}")
        return self.tables[name]


def read_results(folder: str | Path) -> Results:
    """Reads the results that `Results.save` wrote.

    Raises:
        CelltcpError: names the file that is missing or damaged.
    """
    from celltcp.results.stored_tables import read_tables

    return Results(*read_tables(folder))


class RunTables:
    """Results as data frames; tables that these results lack raise CelltcpError."""

    def __init__(self, results: Results) -> None:
        self.results = results

    @property
    def unfinished(self) -> str:
        """Numbers of finished and planned runs in a line; empty if all are finished."""
        if "unfinished" not in self.results.about:
            return ""
        from celltcp.results.completeness import Completeness

        return Completeness.from_about(self.results.about).text()

    @property
    def flows(self) -> pd.DataFrame:
        """The connections, a row per run and connection."""
        return self._frame("flows")

    @property
    def slots(self) -> pd.DataFrame:
        """The slots, a row per run, connection and slot."""
        return self._frame("slots")

    def _frame(self, table: str) -> pd.DataFrame:
        """Returns a table as a data frame, converted once; columns that callers set are their own."""
        if table not in self._frames:
            self._frames[table] = frame(self.results.tables[table])
        return self._frames[table].copy(deep=False)

    @functools.cached_property
    def _frames(self) -> dict[str, pd.DataFrame]:
        """Tables that have been converted."""
        return {}

    @property
    def radio(self) -> pd.DataFrame:
        """The log of the radio, a row per TTI and direction."""
        return frame(self.results.radio)

    @property
    def decisions(self) -> pd.DataFrame:
        """The decisions of selectors: time, congestion control and reason."""
        return frame(self.results.decisions)

    @property
    def legs(self) -> pd.DataFrame:
        """The legs of split hosts, a row per connection, leg and slot."""
        return frame(self.results.legs)

    @property
    def estimates(self) -> pd.DataFrame:
        """The estimates of selectors, a row per connection and slot."""
        return frame(self.results.estimates)


def frame(table: pa.Table) -> pd.DataFrame:
    """Returns an Arrow table as a data frame."""
    data: pd.DataFrame = table.to_pandas()
    return data
