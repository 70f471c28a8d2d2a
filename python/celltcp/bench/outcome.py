"""JSON types of benchmarks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

#: Metrics of each case, or of all cases.
BenchOutcome = Annotated[
    Mapping[str, object], "Figures of celltcp bench: each has its unit in its name."
]
