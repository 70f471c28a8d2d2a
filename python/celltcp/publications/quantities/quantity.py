"""Quantity: a measure of runs that a table can ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from celltcp.publications.measurements import Measured
from celltcp.publications.published_table import Published


@dataclass(frozen=True)
class Quantity:
    """A measure with its values per run."""

    #: Returns a value per run, in the order of the seeds.
    values: Callable[[Measured, Published], list[float]]
    #: Returns the values whose distribution or course a picture shows, if that is not those per run.
    spread: Callable[[Measured, Published], list[float]] | None = None
    #: Whether it needs the log of the radio.
    log: bool = False
    #: Column of slots that has it over time.
    column: str | None = None
    #: Returns the CCA that those of a CCA are relative to; None where they are relative to nothing.
    base: Callable[[str], str] | None = None
