"""Parquet files and spreadsheets (xlsx), which pandas reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.logs.errors import refuse
from celltcp.logs.table.dialect import Dialect
from celltcp.logs.table.frames import FrameTable
from celltcp.logs.table.reader import understand

if TYPE_CHECKING:
    from celltcp.logs.options import Direction, ReadOptions
    from celltcp.logs.recording import Recording
    from celltcp.logs.source import Source

_PARQUET = b"PAR1"
_ZIP = b"PK\x03\x04"


def recognises(source: Source) -> bool:
    """Returns whether the first bytes are those of such a file."""
    return source.magic.startswith((_PARQUET, _ZIP))


def read(source: Source, options: ReadOptions, side: Direction) -> Recording:
    """Reads the table, of a spreadsheet the first sheet.

    Raises:
        CelltcpError: if it cannot be read, or leaves something open.
    """
    import pandas as pd

    is_parquet = source.magic.startswith(_PARQUET)
    try:
        frame = pd.read_parquet(source.path) if is_parquet else pd.read_excel(source.path)
    except ImportError as error:
        raise refuse(
            f"a spreadsheet, which needs a further package: pip install openpyxl ({error})"
        ) from None
    except Exception as error:
        # Libraries raise errors of their own for damaged files.
        raise refuse(f"{'Parquet' if is_parquet else 'spreadsheet'} cannot be read: {error}") from None
    names = tuple(map(str, frame.columns))
    if not names or not len(frame):
        raise refuse("the table is empty")
    dialect = Dialect(
        ",", names, has_names=True, skipped=0, has_decimal_comma=False, has_comments=False
    )
    kind = "Parquet" if is_parquet else "spreadsheet"
    return understand(FrameTable(frame), dialect, options, side, kind)
