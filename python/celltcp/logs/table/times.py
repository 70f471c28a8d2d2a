"""Times in a table: numbers with a unit, times since 1970, dates, times of day."""

from __future__ import annotations

import re
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.blocks import map_blocks
from celltcp.logs.table.values import numbers
from celltcp.logs.units import TimeUnit

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

DAY_NS = 86_400 * 10**9
#: Texts such as 2024-05-01, 01/05/2024, 1.5.24, 1-May-2024, May 1, 2024, and 20240501T100000.
_DATE = re.compile(
    r"(?:\d{4}[-/._]\d{1,2}[-/._]\d{1,2}|\d{1,2}[-/._]\d{1,2}[-/._]\d{2,4}"
    r"|\d{1,2}[- ./][A-Za-z]{3,9}\.?[- ./,]+\d{2,4}|[A-Za-z]{3,9}\.? \d{1,2},? \d{4}|\d{8}[T ]\d{6}"
    r"|[A-Za-z]{3},? (?:[A-Za-z]{3} +\d{1,2}|\d{1,2} [A-Za-z]{3})[ \d:]*\d{4}|[A-Z][a-z]{2} +\d{1,2}"
    r"|\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2}"
    r"|\d{1,2}(?:[-/]\d{1,2}|\.\d{1,2}\.)(?= +\d{1,2}:\d{2}))"
    r"(?:[ T_][^;|,\t]{0,30})?(?:,\d{1,6})?",
)
#: Dates without a year, as in syslog, and as dstat and Android's logcat write them.
_WITHOUT_YEAR = r"^([A-Z][a-z]{2}) +(\d{1,2}) (?=\d{1,2}:)"
_NUMBERS_WITHOUT_YEAR = r"^(\d{1,2})[-/.](\d{1,2})\.? +(?=\d{1,2}:)"
#: Minimum step back of dates without a year at the end of a year.
_HALF_YEAR_NS = 183 * DAY_NS
_TIME_OF_DAY = re.compile(
    r"(?:(?P<d>\d{1,5}) days? )?(?P<h>\d{1,2}):(?P<m>\d{2})(?::(?P<s>\d{2})(?:[.,:](?P<f>\d{1,9}))?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?"
)
#: Name of a time zone at the end of a text, and offsets of zones from UTC, hours.
_ZONE = re.compile(r"\s*\(?\b(UTC|GMT|Z|[A-Z]{3,5})\)?$")
_ZONES = {
    "UTC": 0, "GMT": 0, "Z": 0, "WET": 0, "WEST": 1, "BST": 1, "CET": 1, "CEST": 2, "EET": 2, "EEST": 3,
    "MSK": 3, "EST": -5, "EDT": -4, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7, "JST": 9,
    "KST": 9, "HKT": 8, "SGT": 8, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13, "AKST": -9,
}  # fmt: skip
#: Lowest numbers of times since 1970 in the years 2001 to 2065, and their units.
_EPOCHS = [(10**9, TimeUnit(10**9, "s")), (10**12, TimeUnit(10**6, "ms"))]
_EPOCHS += [(10**15, TimeUnit(1_000, "us")), (10**18, TimeUnit(1, "ns"))]
#: Ranges of days in the years 1982 to 2064: of spreadsheets, of MATLAB, and Julian.
_SERIAL = ((30_000.0, 60_000.0), (723_900.0, 753_900.0), (2_444_900.0, 2_475_900.0))
#: Range of dates with times as digits of one number, for the years 1980 to 2099.
_COMPACT = (19_800_101_000_000, 20_991_231_235_959)


class Times(NamedTuple):
    """Times of the rows of a table."""

    #: Times, ns; only those with `is_known` have a meaning.
    ns: NDArray[np.int64]
    is_known: NDArray[np.bool_]
    #: Unit or kind, for users.
    title: str
    #: Whether they are dates, and not times since the start of a run.
    is_absolute: bool
    #: Whether the unit is unknown: from name, option and size of the numbers.
    is_guess: bool


def looks_like_time(text: str) -> bool:
    """Returns whether a text is a date or a time of day."""
    return bool(_DATE.fullmatch(text) or _TIME_OF_DAY.fullmatch(text))


def looks_like_date(text: str) -> bool:
    """Returns whether a text begins with a date."""
    return bool(_DATE.fullmatch(text))


def are_compact_dates(values: NDArray[np.float64]) -> bool:
    """Returns whether numbers are dates such as 20240501100000."""
    low, high = _COMPACT
    # A few numbers show that they are of another kind.
    for part in (values[:100], values):
        known = part[np.isfinite(part)]
        if not ((known >= low) & (known <= high) & (known % 1 == 0)).all():
            return False
    return bool(len(known))


def has_time_of_day(text: str) -> bool:
    """Returns whether a text has a time of day in it."""
    return bool(re.search(r"\d{1,2}:\d{2}|[ T_]\d{6}|_\d{1,2}\.\d{2}\.\d{2}", text))


def _median(values: NDArray[np.float64]) -> float:
    """Returns the median of the known values, or of a sample of many values; NaN without any."""
    for part in (values[:: values.size // 100_000 + 1], values):
        known = part[np.isfinite(part)]
        if known.size:
            return float(np.median(known))
    return float("nan")


def epoch_unit(values: NDArray[np.float64]) -> TimeUnit | None:
    """Returns the unit of times since 1970, by their size."""
    median = _median(values)
    return next((unit for lowest, unit in _EPOCHS if lowest <= median < 3 * lowest), None)


def read_times(
    column: pd.Series,
    unit: TimeUnit | None,
    *,
    dates: str | None = None,
    has_decimal_comma: bool = False,
) -> Times:
    """Returns the times of a column.

    Args:
        column: texts or numbers.
        unit: unit of numbers, from the name or an option; `None` if unknown.
        dates: order of day and month, for dates that leave it open.
        has_decimal_comma: whether a comma is the decimal sign.

    Raises:
        CelltcpError: if the column has no times, or leaves their order of day and month open.
    """
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column):
        # rrdtool writes a colon behind its times.
        texts = column.astype("string").str.strip().str.strip("\"'[]").str.removesuffix(":")
        sample = texts.dropna().head(50)
        if not len(sample):
            raise CelltcpError("no line with a time and a rate")
        if sample.map(looks_like_date).mean() > 0.5:
            return _dates(texts, dates)
        if sample.map(lambda text: bool(_TIME_OF_DAY.fullmatch(text))).mean() > 0.5:
            return _times_of_day(texts)
        column = texts
    read = numbers(column, has_decimal_comma=has_decimal_comma)
    known = np.isfinite(read.values)
    if not known.any():
        raise CelltcpError(f"time {read.strange!r} is neither a number nor a date")
    compact = _compact_dates(read.values, known)
    if unit is None and compact is not None:
        return compact
    by_size = epoch_unit(read.values)
    median = _median(read.values)
    are_days = unit is None and any(low < median < high for low, high in _SERIAL)
    if by_size is None and are_days and _are_fractions(read.values[known]):
        return Times(_scaled(read.values, DAY_NS), known, "days, as spreadsheets count", True, False)
    used = unit or by_size or TimeUnit(10**9, "s")
    title = f"{used.name} since 1970" if unit is None and by_size is not None else used.name
    is_guess = unit is None and by_size is None
    return Times(_scaled(read.values, used.nanos), known, title, by_size is not None, is_guess)


def _scaled(values: NDArray[np.float64], nanos: int) -> NDArray[np.int64]:
    """Returns values in ns. Whole part and fraction are scaled apart, as a double has 53 bits."""
    result = np.empty(len(values), dtype=np.int64)

    def scale(rows: slice) -> None:
        part = np.nan_to_num(values[rows], nan=0.0, posinf=0.0, neginf=0.0)
        if nanos == DAY_NS:
            # Fractions of a day are exact to about a millisecond.
            result[rows] = np.round(part * 86_400e3)
            result[rows] *= 10**6
            return
        whole = np.floor(part)
        part -= whole
        part *= nanos
        result[rows] = whole
        result[rows] *= nanos
        result[rows] += np.round(part, -3 if nanos >= 10**6 else 0).astype(np.int64)

    map_blocks(len(values), scale)
    return result


def _are_fractions(values: NDArray[np.float64]) -> bool:
    """Returns whether days have times of day, in steps of less than an hour."""
    steps = np.diff(np.sort(values))
    usual_days = float(np.median(steps[steps > 0])) if (steps > 0).any() else 1.0
    return bool((values % 1 > 0).any()) and usual_days < 1 / 24


def _compact_dates(values: NDArray[np.float64], known: NDArray[np.bool_]) -> Times | None:
    """Returns times that are written as one number, such as 20240501100000."""
    import pandas as pd

    if not are_compact_dates(values):
        return None
    texts = pd.Series(np.where(known, values, _COMPACT[0])).astype("int64").astype("string")
    read = pd.to_datetime(texts, format="%Y%m%d%H%M%S", errors="coerce")
    if read.isna().any():
        return None
    return Times(_ns(read), known, "dates", True, False)


def _ns(read: pd.Series) -> NDArray[np.int64]:
    return np.asarray(read.to_numpy().astype("datetime64[ns]").astype(np.int64))


def _dates(texts: pd.Series, order: str | None) -> Times:
    """Returns the times of dates, in the order of day and month that fits most of them."""
    import pandas as pd

    # Of times without a year only the differences count; a leap year has all dates.
    has_year = not re.match(f"{_WITHOUT_YEAR}|{_NUMBERS_WITHOUT_YEAR}", str(texts.dropna().iloc[0]))
    texts = texts.str.replace(_WITHOUT_YEAR, r"2024 \1 \2 ", regex=True)
    texts = texts.str.replace(_NUMBERS_WITHOUT_YEAR, r"\1-\2-2024 ", regex=True)
    # Apache writes 01/May/2024:10:00:00 +0000.
    texts = texts.str.replace(r"(/\d{4}):(?=\d{2}:)", r"\1 ", regex=True)
    # PRTG writes the begin and the end of a row.
    cleaned = texts.str.replace(r"\s+-\s+\d{1,2}:\d{2}(?::\d{2})?(?: [AP]M)?$", "", regex=True)
    cleaned = cleaned.str.replace(r"(?<=\d),(?=\d{1,6}\b)", ".", regex=True)
    # Phone logs write 2019.12.14_10.16.30.
    cleaned = cleaned.str.replace(
        r"^(\d{4})[._](\d{2})[._](\d{2})[_ ](\d{2})[.:](\d{2})[.:](\d{2})",
        r"\1-\2-\3 \4:\5:\6",
        regex=True,
    )
    cleaned = cleaned.str.replace(r"(\d{2}:\d{2}:\d{2}):(\d{1,6})\b", r"\1.\2", regex=True)
    cleaned, shift_h, zone = _without_zone(cleaned)
    first = str(cleaned.dropna().iloc[0])
    numeric = re.match(r"(\d{1,2})[-/.](\d{1,2})[-/.](\d{2}|\d{4})\b", first)
    orders = [order] if order else ["dmy", "mdy"] if numeric else ["ymd"]
    read = {each: _parse(cleaned, each) for each in orders}
    counts = {each: int(times.notna().sum()) for each, times in read.items()}
    max_count = max(counts.values())
    if not max_count:
        raise CelltcpError(
            f"time {first!r} is no date that is known; allowed: such as 2024-05-01 10:00:00"
        )
    fitting = [each for each, count in counts.items() if count == max_count]
    fits_both_orders = len(fitting) > 1
    if fits_both_orders:
        fitting = _same_or_continuous(read, fitting)
        if len(fitting) > 1:
            raise CelltcpError(
                f"the dates such as {first!r} leave open which is the day and which the month: choose "
                "with --dates dmy or --dates mdy (dates in a scenario file)"
            )
    chosen = read[fitting[0]]
    known = chosen.notna().to_numpy(dtype=bool)
    shifted = np.where(known, _ns(chosen.fillna(pd.Timestamp(0))), 0) - shift_h * 3600 * 10**9
    ns: NDArray[np.int64] = np.asarray(shifted, dtype=np.int64)
    titles = {"dmy": "dates, day first", "mdy": "dates, month first"}
    title = "dates" if fits_both_orders else titles.get(fitting[0], "dates")
    return Times(ns if has_year else _with_years(ns, known), known, f"{title}{zone}", True, False)


def _with_years(ns: NDArray[np.int64], known: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Returns times of dates without a year, with one more year after each step back of half a year."""
    positions = np.flatnonzero(known)
    falls = np.diff(ns[positions]) < -_HALF_YEAR_NS
    result = ns.copy()
    result[positions] += np.concatenate([[0], np.cumsum(falls)]).astype(np.int64) * 366 * DAY_NS
    return result


def _without_zone(texts: pd.Series) -> tuple[pd.Series, NDArray[np.int64] | int, str]:
    """Returns texts without the name of their zone, and the hours of the zones from UTC."""
    zones = texts.str.extract(_ZONE)[0]
    # AM and PM, and weekdays or months at the end, are no zones.
    zones = zones.where(~zones.isin(["AM", "PM"]))
    names = [str(name) for name in zones.dropna().unique()]
    if not names:
        return texts, 0, ""
    bare = texts.str.replace(_ZONE, "", regex=True).where(zones.notna(), texts)
    if len(names) == 1:
        return bare, 0, f" in {names[0]}"
    unknown = [name for name in names if name not in _ZONES]
    if unknown:
        raise CelltcpError(f"the zone {unknown[0]!r} of its times is not known beside {names[0]!r}")
    hours = np.asarray(zones.map(_ZONES).fillna(0), dtype=np.int64)
    return bare, hours, f" in {' and '.join(names)}"


def _parse(texts: pd.Series, order: str) -> pd.Series:
    """Returns dates by the format of the first one; those that do not fit by formats of their own."""
    import pandas as pd
    from pandas.tseries.api import guess_datetime_format

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = str(texts.dropna().iloc[0])
        form = guess_datetime_format(first, dayfirst=order == "dmy")
        is_iso = re.match(r"\d{4}-\d{2}-\d{2}[ T]", first) is not None
        if is_iso:
            form = "ISO8601"
        if form is not None and order == "mdy" and re.match(r"%d[-/.]%m", form):
            return pd.Series(pd.NaT, index=texts.index, dtype="datetime64[ns]")
        if form is not None and order == "dmy" and re.match(r"%m[-/.]%d", form):
            # The first text is a date only with the month first.
            return pd.Series(pd.NaT, index=texts.index, dtype="datetime64[ns]")
        read = pd.to_datetime(texts, format=form, errors="coerce", utc=True) if form else None
        if read is None or read.isna().sum() > texts.isna().sum():
            again = pd.to_datetime(
                texts, format="mixed", dayfirst=order == "dmy", errors="coerce", utc=True
            )
            read = again if read is None else read.fillna(again) if order == "ymd" else read
            if form and order != "ymd":
                # Seconds with and without a fraction, or a two-digit year now and then.
                fraction = form.replace("%S.%f", "%S") if "%f" in form else form.replace("%S", "%S.%f")
                read = read.fillna(pd.to_datetime(texts, format=fraction, errors="coerce", utc=True))
    return read.dt.tz_localize(None)


def _same_or_continuous(read: dict[str, pd.Series], orders: list[str]) -> list[str]:
    """Returns one of two orders if both give equal steps, or if only it has steps of 0 to 24 h."""
    import pandas as pd

    steps = {order: read[order].diff().dropna() for order in orders}
    first, second = (steps[order].reset_index(drop=True) for order in orders)
    if first.equals(second):
        return orders[:1]
    day = pd.Timedelta(days=1)
    continuous = [
        order
        for order in orders
        if (steps[order].abs() < day).all() and (steps[order] >= pd.Timedelta(0)).all()
    ]
    return continuous if len(continuous) == 1 else orders


def _times_of_day(texts: pd.Series) -> Times:
    """Returns times of day, which go on after midnight."""
    parts = texts.str.extract(_TIME_OF_DAY)
    known = parts["m"].notna().to_numpy(dtype=bool)

    def part(name: str) -> NDArray[np.int64]:
        return np.asarray(parts[name].fillna("0").astype("int64").to_numpy())

    hours = part("h")
    half = parts["half"].str.lower().str.replace(".", "", regex=False).fillna("")
    hours = np.where(half != "", hours % 12 + np.where(half == "pm", 12, 0), hours)
    fraction = parts["f"].fillna("0").str.ljust(9, "0").astype("int64").to_numpy()
    ns = (((part("d") * 24 + hours) * 60 + part("m")) * 60 + part("s")) * 10**9 + fraction
    _check_minutes(parts, ns)
    indices = np.flatnonzero(known)
    falls = np.diff(ns[indices]) < -DAY_NS // 2
    ns[indices] += np.concatenate([[0], np.cumsum(falls)]).astype(np.int64) * DAY_NS
    return Times(np.asarray(ns, dtype=np.int64), known, "time of day", True, False)


def _check_minutes(parts: pd.DataFrame, ns: NDArray[np.int64]) -> None:
    """Checks times such as 00:01, which may be hours and minutes or minutes and seconds.

    Raises:
        CelltcpError: if that is open; the message names the option that decides it.
    """
    is_short = bool(parts["s"].isna().all() and parts["half"].isna().all())
    if is_short and len(ns) > 1 and ns[0] <= 60 * 10**9 and (np.diff(ns[:100]) == 60 * 10**9).all():
        raise CelltcpError(
            "times such as 00:01 may be hours and minutes, or minutes and seconds: --step 60s "
            "or --step 1s says how long a row lasts (step in a scenario file)"
        )


def join_dates_and_clocks(dates: pd.Series, clocks: pd.Series) -> pd.Series:
    """Returns a column of dates with times of day."""
    return dates.astype("string").str.strip() + " " + clocks.astype("string").str.strip()
