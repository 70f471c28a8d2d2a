"""Values of a table: texts of numbers, as tools of several countries write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.logs.units import rate_unit

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: Texts of a value that was not measured.
MISSING = frozenset(
    (
        "",
        "-",
        "--",
        "---",
        "n/a",
        "na",
        "nan",
        "null",
        "none",
        "nil",
        "?",
        "*",
        "inf",
        "-inf",
        "<na>",
        "#n/a",
    )
)
_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?")
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_WITH_UNIT = r"^\s*([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*([A-Za-zµ%][A-Za-zµ%/ ]*)?\s*$"


class Numbers(NamedTuple):
    """Numbers of a column."""

    #: Values; NaN where none was measured.
    values: NDArray[np.float64]
    #: Unit that all values have beside them; empty for none.
    unit: str
    #: A text that is no number and not known as a missing value, if there is one, and their number.
    strange: str | None
    strange_count: int


def looks_like_number(text: str) -> bool:
    """Returns whether a text is a number, also one with a decimal comma or groups of digits."""
    return bool(_NUMBER.fullmatch(text) or _GROUPED.fullmatch(text))


def numbers(column: pd.Series, *, has_decimal_comma: bool) -> Numbers:
    """Returns the numbers of a column of texts or numbers."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        finite = np.isfinite(values)
        return Numbers(values if finite.all() else np.where(finite, values, np.nan), "", None, 0)
    texts = column.astype("string").str.strip()
    missing = texts.isna() | texts.str.lower().isin(MISSING)
    parts = texts.str.extract(_WITH_UNIT)
    plain = parts[0]
    if has_decimal_comma:
        plain = plain.str.replace(".", "", regex=False).str.replace(",", ".", regex=False)
    else:
        plain = plain.str.replace(",", "", regex=False)
    read = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    units = parts[1].dropna().str.strip().unique()
    unit = str(units[0]) if len(units) == 1 else ""
    has_one = len(units) == 1 and parts[1].isna().sum() == (missing | plain.isna()).sum()
    wrong = ~missing.to_numpy(dtype=bool) & ~np.isfinite(read)
    scales = {each: rate_unit(each) for each in units}
    if len(units) > 1 and all(each and not each.is_volume for each in scales.values()):
        # Grafana writes 980 kb/s beside 1.2 Mb/s. A zero needs no unit.
        own = parts[1].str.strip().map({name: each.bits for name, each in scales.items() if each})
        with_unit = own.notna().to_numpy(dtype=bool)
        read = np.where(with_unit | (read == 0), read * own.fillna(1.0).to_numpy(), np.nan)
        unit = "bit/s"
    elif len(units) and not has_one:
        # Values with several units would need each its own: only those without one are numbers.
        with_unit = parts[1].notna().to_numpy(dtype=bool)
        read, wrong, unit = np.where(with_unit, np.nan, read), wrong | with_unit, ""
    read = np.where(missing.to_numpy(dtype=bool) | ~np.isfinite(read), np.nan, read)
    strange = str(texts[wrong].iloc[0]) if wrong.any() else None
    return Numbers(read, unit, strange, int(wrong.sum()))
