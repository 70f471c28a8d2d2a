"""Numbers in the cells of a table, as tools of several countries write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.logs.blocks import all_rows
from celltcp.logs.units import rate_unit

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

#: Texts of values that were not measured, in lower case.
MISSING = {
    "", "-", "--", "---", "n/a", "na", "nan", "null", "none", "nil", "?", "*", "inf", "-inf", "<na>",
    "#n/a",
}  # fmt: skip
_NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,]\d*)?|[.,]\d+)(?:[eE][-+]?\d+)?")
#: Signs that only separate thousands: apostrophes, and spaces as in French.
_GAPS = "'\N{RIGHT SINGLE QUOTATION MARK}\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{THIN SPACE} "
_GROUPED = re.compile(
    rf"[-+]?\d{{1,3}}(?:(?P<sign>[.,{_GAPS}])\d{{3}})(?:(?P=sign)\d{{3}})*(?:[.,]\d+)?"
)
#: Pattern of such a sign between groups of digits.
GAP = rf"(?<=\d)[{_GAPS}](?=\d{{3}}(?!\d))"
_WITH_UNIT = r"^\s*([-+]?[\d.,]+(?:[eE][-+]?\d+)?)\s*([A-Za-zµ%][A-Za-zµ%/ ]*)?\s*$"


class Numbers(NamedTuple):
    """Numbers of a column."""

    #: Values; NaN where none was measured.
    values: NDArray[np.float64]
    #: Unit beside the values; empty for none.
    unit: str
    #: First text that is neither a number nor missing, and the number of such texts.
    strange: str | None
    strange_count: int
    #: Whether the values had several units, and were converted to `unit`.
    is_scaled: bool = False


def looks_like_number(text: str) -> bool:
    """Returns whether a text is a number, also one with a decimal comma or groups of digits."""
    return bool(_NUMBER.fullmatch(text) or _GROUPED.fullmatch(text))


def numbers(column: pd.Series, *, has_decimal_comma: bool) -> Numbers:
    """Returns the numbers of a column of texts or numbers."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column) and not pd.api.types.is_bool_dtype(column):
        is_double = column.dtype == np.float64
        values = column.to_numpy() if is_double else column.to_numpy(np.float64, na_value=np.nan)
        if not all_rows(len(values), lambda rows: np.isfinite(values[rows])):
            values = np.where(np.isfinite(values), values, np.nan)
        return Numbers(values, "", None, 0)
    texts = column.astype("string").str.strip().str.replace(GAP, "", regex=True)
    missing = texts.isna() | texts.str.lower().isin(MISSING)
    parts = texts.str.extract(_WITH_UNIT)
    plain = _with_points(parts[0], has_decimal_comma=has_decimal_comma)
    read = pd.to_numeric(plain, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    units = parts[1].dropna().str.strip().unique()
    unit, is_scaled = str(units[0]) if len(units) == 1 else "", False
    has_one_unit = len(units) == 1 and parts[1].isna().sum() == (missing | plain.isna()).sum()
    is_invalid = ~missing.to_numpy(dtype=bool) & ~np.isfinite(read)
    scales = {each: rate_unit(each) for each in units}
    if len(units) > 1 and all(scale and not scale.is_volume for scale in scales.values()):
        # Grafana writes 980 kb/s beside 1.2 Mb/s. A zero needs no unit.
        own = parts[1].str.strip().map({name: scale.bits for name, scale in scales.items() if scale})
        with_unit = own.notna().to_numpy(dtype=bool)
        read = np.where(with_unit | (read == 0), read * own.fillna(1.0).to_numpy(), np.nan)
        unit, is_scaled = "bit/s", True
    elif unit and not has_one_unit and rate_unit(unit) and parts[1].notna().mean() > 0.5:
        # A number without the unit of the others is no value of the column: a line below the table.
        bare = parts[1].isna().to_numpy(dtype=bool) & (read != 0)
        read, is_invalid = np.where(bare, np.nan, read), is_invalid | (bare & np.isfinite(read))
    elif len(units) and not has_one_unit:
        # No unit fits all values, so that only those without one are numbers.
        with_unit = parts[1].notna().to_numpy(dtype=bool)
        read, is_invalid, unit = np.where(with_unit, np.nan, read), is_invalid | with_unit, ""
    read = np.where(missing.to_numpy(dtype=bool) | ~np.isfinite(read), np.nan, read)
    strange = str(texts[is_invalid].iloc[0]) if is_invalid.any() else None
    return Numbers(read, unit, strange, int(is_invalid.sum()), is_scaled)


def _with_points(texts: pd.Series, *, has_decimal_comma: bool) -> pd.Series:
    """Returns numbers with points before their decimals and thousands that nothing separates."""
    decimal, thousands = (",", ".") if has_decimal_comma else (".", ",")
    if has_decimal_comma and not texts.str.contains(",", regex=False).any():
        # A column may have points where another one has commas, such as times of a tool.
        groups = texts.str.fullmatch(r"[-+]?[1-9]\d{0,2}(?:\.\d{3})+|[^.]*")
        if not groups.fillna(value=True).all():
            return texts
    bare = texts.str.replace(rf"(?<=\d){re.escape(thousands)}(?=\d{{3}}(?!\d))", "", regex=True)
    return bare.str.replace(decimal, ".", regex=False) if has_decimal_comma else bare
