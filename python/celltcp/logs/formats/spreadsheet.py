"""Parquet files and spreadsheets (xlsx), which pandas reads."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError
from celltcp.logs.errors import quoted_names
from celltcp.logs.source import is_spreadsheet
from celltcp.logs.table.reader import read_frame, read_table

if TYPE_CHECKING:
    import pandas as pd

    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source

_PARQUET = b"PAR1"


def recognises(source: Source) -> bool:
    """Returns whether the first bytes are those of such a file."""
    return source.magic.startswith(_PARQUET) or (
        source.unpacked is None and is_spreadsheet(source.head.encode("latin-1", "replace"))
    )


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the table, of a spreadsheet the first sheet that has one.

    Raises:
        CelltcpError: if it cannot be read, or leaves something open.
    """
    import pandas as pd

    is_parquet = source.magic.startswith(_PARQUET)
    sheets: dict[str, pd.DataFrame]
    try:
        if is_parquet:
            return _parquet(pd.read_parquet(source.path), options, side)
        sheets = pd.read_excel(source.path, sheet_name=None, header=None)
    except CelltcpError:
        raise
    except ImportError as error:
        raise CelltcpError(
            f"a spreadsheet, which needs a further package: pip install openpyxl ({error})"
        ) from None
    except Exception as error:
        # Libraries raise errors of their own for damaged files.
        raise CelltcpError(
            f"{'Parquet' if is_parquet else 'spreadsheet'} cannot be read: {error}"
        ) from None
    return _first_sheet(
        source, {name: sheet for name, sheet in sheets.items() if sheet.size}, options, side
    )


def _parquet(frame: pd.DataFrame, options: ReadOptions, side: Direction) -> Recording:
    import pandas as pd

    if not isinstance(frame.index, pd.RangeIndex):
        # pandas keeps the times of rows as their names.
        frame = frame.reset_index()
    if not len(frame):
        raise CelltcpError("the table is empty")
    names = []
    for name, column in list(frame.items()):
        is_length = pd.api.types.is_timedelta64_dtype(column)
        if is_length:
            frame[name] = column.dt.total_seconds()
        names.append(f"{name} [s]" if is_length else str(name))
    return read_frame(frame, names, options, side, "Parquet")


def _first_sheet(
    source: Source, sheets: dict[str, pd.DataFrame], options: ReadOptions, side: Direction
) -> Recording:
    """Reads the first sheet that is understood; titles above a table are left out as in a text.

    Raises:
        CelltcpError: that of the longest sheet, if none is understood.
    """
    errors: list[tuple[int, CelltcpError]] = []
    for name, sheet in sheets.items():
        text = sheet.to_csv(sep="\t", header=False, index=False)
        table = dataclasses.replace(source, head=text, is_whole=True, encoding="utf-8")
        try:
            recording = read_table(table, options, side)
        except CelltcpError as error:
            errors.append((len(sheet), error))
            continue
        kind: dict[str, Any] = {"kind": "spreadsheet"}
        if len(sheets) > 1:
            others = quoted_names([other for other in sheets if other != name])
            kind["kind"] += f', sheet "{name}" and not {others}'
        return dataclasses.replace(recording, **kind)
    raise max(errors, key=lambda each: each[0])[1] if errors else CelltcpError("the table is empty")
