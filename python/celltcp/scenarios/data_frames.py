"""Data frames as link traces, stored as CSV files in the user's cache."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from celltcp._core import CelltcpError, Scenario
from celltcp.files.atomic_write import write_text
from celltcp.files.cache import cache_folder

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from celltcp.scenarios.changes import Value

#: A scenario: built-in name, scenario file or its fields, link trace (a file or a data frame), or
#: loaded scenario.
ScenarioLike: TypeAlias = "str | Path | Scenario | pd.DataFrame | Mapping[str, Value]"

#: A link trace: a file or a data frame.
TraceLike: TypeAlias = "str | Path | pd.DataFrame"


def trace_file(source: object) -> Path:
    """Writes a data frame to a link trace and returns its path.

    The path has a digest of the content, so that the same rows give the same runs. An index other than
    an unnamed RangeIndex becomes the first column.

    Raises:
        CelltcpError: if the file cannot be written, or `source` is no data frame.
    """
    import pandas as pd

    if isinstance(source, list | tuple):
        raise CelltcpError(
            f"scenario: {source!r} is a list; allowed: one scenario. celltcp.compare_all and "
            "celltcp.sweep take several"
        )
    if not isinstance(source, pd.DataFrame):
        raise CelltcpError(
            f"scenario: {source!r} is of type {type(source).__name__}; allowed: a name, a file, a "
            "mapping of fields, a data frame or a loaded scenario"
        )
    has_default_index = isinstance(source.index, pd.RangeIndex) and source.index.name is None
    text = source.to_csv(index=not has_default_index)
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    file = cache_folder("traces") / digest / "data-frame.csv"
    if not file.is_file() or file.read_text("utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, text)
    return file
