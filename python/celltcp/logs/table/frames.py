"""Tables in text or in memory, whose columns are read as data frames."""

from __future__ import annotations

import io
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Container

    import pandas as pd

    from celltcp.logs.source import Source
    from celltcp.logs.table.dialect import Dialect

#: Block size of Arrow's reader, bytes.
_BLOCK = 1 << 22


class TextTable:
    """A table in text."""

    def __init__(self, source: Source, dialect: Dialect) -> None:
        self._source = source
        self._dialect = dialect
        #: Number of lines with more fields than columns, which the last read left out.
        self.too_long_lines = 0

    def read(
        self,
        positions: list[int] | None = None,
        max_rows: int | None = None,
        numeric: Container[int] = (),
    ) -> pd.DataFrame:
        """Reads columns; their names in the result are their positions.

        Args:
            positions: positions of the columns; all unless given.
            max_rows: number of first rows, which are read as texts; all rows unless given.
            numeric: positions of columns that may be read as numbers.
        """
        import pandas as pd

        dialect = self._dialect
        if max_rows is None and self._is_plain():
            fast = self._read_plain(positions, numeric)
            if fast is None:
                fast = self._read_plain(positions, ())
            if fast is not None:
                return fast
        is_short = max_rows is not None or self._source.is_whole
        stream: Any = io.StringIO(self._source.head) if is_short else self._source.binary()
        separator = r"\s+" if dialect.separator == " " and len(dialect.names) > 1 else dialect.separator
        if len(dialect.names) == 1 and separator == " ":
            separator = ","
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            frame = pd.read_csv(
                stream,
                sep=separator,
                header=None,
                names=range(len(dialect.names)),
                index_col=False,
                skiprows=dialect.skipped_lines,
                usecols=positions,
                dtype=str if max_rows is not None else None,
                na_filter=True,
                comment="#" if dialect.has_comments else None,
                skipinitialspace=True,
                nrows=max_rows,
                encoding=None if is_short else self._source.encoding,
                encoding_errors="replace",
                decimal="," if dialect.has_decimal_comma else ".",
                on_bad_lines="warn",
                low_memory=False,
            )
        self.too_long_lines = sum(str(each.message).count("Skipping line") for each in warned)
        return frame

    def _is_plain(self) -> bool:
        """Returns whether Arrow's reader, which uses all cores, supports the dialect."""
        dialect = self._dialect
        is_ascii = self._source.encoding in ("utf-8", "utf-8-sig")
        has_separator = dialect.separator != " " and len(dialect.names) > 1
        is_plain = has_separator and not (dialect.has_comments or dialect.has_decimal_comma)
        return is_ascii and is_plain and not self._source.is_whole and self._source.unpacked is None

    def _read_plain(self, positions: list[int] | None, numeric: Container[int]) -> pd.DataFrame | None:
        """Returns columns by Arrow's reader; `None` if a line differs from the others."""
        import pyarrow as pa
        from pyarrow import csv

        names = [str(position) for position in range(len(self._dialect.names))]
        chosen = names if positions is None else [names[position] for position in positions]
        # Arrow keeps the text of a column until all its types are known, unless one is given.
        types = {name: pa.float64() for index, name in enumerate(names) if index in numeric}
        try:
            table = csv.read_csv(
                self._source.path,
                csv.ReadOptions(
                    column_names=names, skip_rows=self._dialect.skipped_lines, block_size=_BLOCK
                ),
                csv.ParseOptions(delimiter=self._dialect.separator),
                csv.ConvertOptions(include_columns=chosen, column_types=types, timestamp_parsers=[]),
            )
        except (pa.ArrowInvalid, UnicodeError):
            return None
        # Dates stay texts, which one parser reads in all formats.
        texts: list[pa.ChunkedArray[Any]] = [
            column.cast(pa.string()) if pa.types.is_temporal(column.type) else column
            for column in table.columns
        ]
        frame = pa.table(texts, names=table.column_names).to_pandas(split_blocks=True)
        return frame.set_axis([int(name) for name in frame.columns], axis=1)


class FrameTable:
    """A table that is in memory already: records of JSON, Parquet, a spreadsheet."""

    too_long_lines = 0

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame.set_axis(range(frame.shape[1]), axis=1)

    def read(
        self,
        positions: list[int] | None = None,
        max_rows: int | None = None,
        numeric: Container[int] = (),
    ) -> pd.DataFrame:
        """Returns columns as `TextTable.read` does."""
        del numeric  # The columns have types already.
        frame = self._frame if positions is None else self._frame[positions]
        return frame if max_rows is None else frame.head(max_rows).astype("string")
