"""Fields that recur in the JSON of commands, and annotations that its JSON Schema is made from.

A text in `Annotated` is the description of a field, with its unit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, NotRequired, TypedDict

from celltcp._core import ResultTable


class Keywords:
    """Keywords of JSON Schema without a Python type, such as `minimum`, for use in `Annotated`."""

    def __init__(self, **keywords: object) -> None:
        self.keywords = keywords


class Columns:
    """Types of the columns of a row, for use in `Annotated` on a `dict`."""

    def __init__(self, types: Callable[[], Mapping[str, object]]) -> None:
        #: Returns the types by column; called when a schema is requested.
        self.types = types


#: Annotation of a class that has no further fields, also in later versions.
CLOSED = Keywords(unevaluatedProperties=False)

#: Number; None if the runs have no value.
Number = float | None
#: Value in a row of a table.
Cell = str | int | float | bool | None

Version = Annotated[str, "Version of celltcp."]
Build = Annotated[str, "Digest of the programs of the engine."]
KernelVersion = Annotated[str, "Version of the Linux kernel."]
ScenarioName = Annotated[str, "Name of the scenario."]
ScenarioHash = Annotated[str, "Digest of the scenario."]
ScenarioHashes = Annotated[dict[str, str], "Digests of the scenarios by name."]
Overrides = Annotated[list[str], "Overrides of fields of the scenarios, where there are some."]
LeftOut = Annotated[list[str], "Files that are no scenarios."]
Cca = Annotated[str, "Congestion control, as in --cca."]
Middlebox = Annotated[str, "Middleboxes on the path."]
RunNumber = Annotated[int, "Number of the run."]
Runs = Annotated[int, "Number of runs of each CCA."]
Seed = Annotated[int, "Seed of the run."]
FirstSeed = Annotated[int, "Seed of the first run."]
FlowNumber = Annotated[int, "Number of the connection."]
FlowName = Annotated[str, "Name of the flow in the scenario."]
Duration = Annotated[Number, "Length, s."]
Ci95 = Annotated[Number, "Half width of the 95 % interval; null with one run or equal values."]
HalfWidth = Annotated[Number, "Half width of its 95 % interval."]


class Interval(TypedDict):
    """Mean with its 95 % interval."""

    mean: Annotated[Number, "Mean over the runs."]
    ci95: Ci95


class MetricInterval(Interval):
    """Mean of a metric with its 95 % interval, or a lower bound of the mean."""

    low: NotRequired[
        Annotated[
            float, "Lower end of the interval, where half its width leaves the range of the metric."
        ]
    ]
    high: NotRequired[Annotated[float, "Upper end of the interval, in the same cases."]]
    is_lower_bound: NotRequired[
        Annotated[bool, "Whether times were cut by the end of the run: the mean is at least this."]
    ]


def table_columns(table: ResultTable, types: Mapping[str, object]) -> dict[str, object]:
    """Returns the described types of the columns of a table, numbers unless they are in `types`."""
    return {
        name: Annotated[types.get(name, Number), sentence(meaning)] for name, meaning in table.columns
    }


def sentence(meaning: str) -> str:
    """Returns a meaning as a sentence; a name at its beginning stays as it is."""
    is_name = "_" in meaning.partition(" ")[0]
    return f"{meaning if is_name else meaning[:1].upper() + meaning[1:]}."
