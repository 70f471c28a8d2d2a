"""Tables of units of work in captures: percentiles of their times, causes of delays, slowest ones."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from celltcp.files.atomic_write import atomic_write
from celltcp.pcap.diagnosis.causes import Cause, is_headline
from celltcp.pcap.diagnosis.messages import why_no_clock
from celltcp.pcap.units.page_loads import PAGE_LOAD, page_loads
from celltcp.pcap.units.units import FRAME, PARTS, RESPONSE, slow_text
from celltcp.pcap.units.video_segments import video_text
from celltcp.present.section import Column, Section, Table, number_columns
from celltcp.present.terminal import Terminal
from celltcp.results.statistics import NORMAL_HALF_WIDTH
from celltcp.scenarios.quantity_texts import time_text

if TYPE_CHECKING:
    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.pcap import CaptureAnalyses
    from celltcp.pcap.outcome import UnitsOutcome

#: Width of a pipe, characters: all columns of a table fit.
_PIPE_WIDTH = 1_000
#: Minimum share of the time in pauses of a client that waits for nothing.
_MIN_PAUSED_SHARE = 0.3
#: Minimum number of units whose times are shown: fewer are those of a page or a transfer.
_MIN_SHOWN = 3
#: Minimum numbers of units for a 95th and a 99th percentile.
_MIN_P95, _MIN_P99 = 20, 100
#: Maximum number of the slowest units of a kind that are printed.
_MAX_SLOWEST = 5
#: Minimum standard error of delays that is printed, s.
_MIN_ERROR_S = 0.005
#: Quantiles of the standard normal distribution: middles of equal shares.
_QUANTILES = np.array([NormalDist().inv_cdf((number + 0.5) / 9) for number in range(9)])
#: Notes: where no unit shows, and on the late share.
_NO_UNITS = (
    "no frames or responses to compare with the deadline: frames of a stream that asks for more than "
    "its window or the path carries run together, and look like a transfer"
)
_NO_DEADLINE = "; --deadline TIME has the share of late ones"
#: Title of the table of times.
_TIMES = "Times of units of work"
#: Plurals of units.
NOUNS = {RESPONSE: "responses", FRAME: "frames", PAGE_LOAD: "page loads"}


def applications_of(analyses: CaptureAnalyses, deadline_s: float | None) -> list[UnitsOutcome]:
    """Returns the times of the units of each kind and server, those with most units first.

    Without a deadline none is late.
    """
    # Users wait for pages, not for single responses of them.
    groups = sorted(_groups(analyses), key=lambda group: (group[0][2] != PAGE_LOAD, -len(group[1])))
    return [_application(*key, units, deadline_s) for key, units in groups]


def _groups(analyses: CaptureAnalyses) -> Iterator[tuple[tuple[str, str, str], pd.DataFrame]]:
    """Yields file, server, kind and rows of the units of each kind and server."""
    servers = analyses.connections[["file", "connection", "server", "start_ns", "duration_s"]]
    # Until the last packet of a file, from the start of a connection.
    ends_ns = servers["start_ns"] + 1e9 * servers.pop("duration_s")
    last_ns = ends_ns.groupby(servers["file"], observed=True).transform("max")
    servers = servers.assign(rest_s=(last_ns - servers["start_ns"]) / 1e9)
    units = analyses.units.merge(servers, on=["file", "connection"])
    for (file, server, unit), rows in units.groupby(["file", "server", "unit"], observed=True):
        yield (str(file), str(server), str(unit)), rows
    for (file, server), rows in page_loads(analyses.units, analyses.connections).groupby(
        ["file", "server"]
    ):
        yield (str(file), str(server), PAGE_LOAD), rows


def _application(
    file: str, server: str, unit: str, units: pd.DataFrame, deadline_s: float | None
) -> UnitsOutcome:
    times_s = unit_times(units)

    def percentile(part: float, least: int = 1) -> float | None:
        return float(np.percentile(times_s, part)) if len(times_s) >= least else None

    late_share = None
    is_done = units["duration_s"].notna()
    if deadline_s is not None:
        # What had no end in the capture is late as well, if it had the time.
        late = int((~is_done & (units["rest_s"] - units["start_s"] > deadline_s)).sum())
        late += sum(_never_sent(each, deadline_s) for _, each in units.groupby("connection"))
        known = late + int(is_done.sum())
        late_share = (
            (late + is_done.sum() * float((times_s > deadline_s).mean())) / known if known else None
        )
    counts = units.loc[units["delayed_by"] != "", "delayed_by"].value_counts()
    return {
        "file": file,
        "server": server,
        "unit": unit,
        "count": len(units),
        "unfinished": int((~is_done).sum()),
        "mean_s": float(times_s.mean()) if len(times_s) else None,
        "p50_s": percentile(50),
        "p95_s": percentile(95, _MIN_P95),
        "p99_s": percentile(99, _MIN_P99),
        "max_s": percentile(100),
        "deadline_s": deadline_s,
        "late_share": late_share,
        "delayed_by": {str(cause): int(count) for cause, count in counts.items()},
    }


def _never_sent(units: pd.DataFrame, deadline_s: float) -> int:
    """Returns the number of late frames of a stream that waited at the end and are not in a capture."""
    ends_s = (units["start_s"] + units["duration_s"]).dropna()
    rest_s = float(units["rest_s"].max())
    is_waiting = len(units) > 1 and units["unit"].iloc[0] == FRAME
    if not is_waiting or ends_s.empty or rest_s - ends_s.max() > deadline_s:
        return 0
    starts_s = units["start_s"].sort_values()
    return max(int((rest_s - deadline_s - starts_s.iloc[-1]) / starts_s.diff().median()), 0)


def unit_times(units: pd.DataFrame) -> NDArray[np.float64]:
    """Returns the times of units with an end, each as quantiles of a normal distribution, s.

    Their standard errors are the deviations: expected times alone have too short a tail.
    """
    done = units.dropna(subset=["duration_s"])
    times_s, errors_s = (done[name].to_numpy(float) for name in ("duration_s", "error_s"))
    spread = times_s[:, None] + errors_s[:, None] * _QUANTILES
    result: NDArray[np.float64] = np.maximum(spread, times_s.min(initial=np.inf)).ravel()
    return result


def paces_itself(analyses: CaptureAnalyses) -> bool:
    """Returns whether the main connection has calls, between which its client pauses for long."""
    rows, units = analyses.main_first().head(1), analyses.units
    are_calls = units.merge(rows[["file", "connection"]])["unit"] == RESPONSE
    is_paused = rows["turns_up_s"] >= _MIN_PAUSED_SHARE * rows["duration_s"]
    return bool(is_paused.any()) and int(are_calls.sum()) >= _MIN_SHOWN


def print_units(analyses: CaptureAnalyses, deadline_s: float | None) -> None:
    """Prints the times of units of work, and the slowest ones of each kind with what delayed them."""
    for row in analyses.main_first().to_dict("records"):
        # A window that is known as the limit explains them.
        if (reason := why_no_clock(row)) and not is_headline(row, Cause.RECEIVE_WINDOW):
            click.echo(f"{row['connection']}: no times of frames: {reason}")
    sections = unit_sections(analyses, deadline_s)
    if not sections and deadline_s is not None:
        click.echo(_NO_UNITS)
    for section in sections:
        for text in section.text:
            click.echo(text)
        if section.table is not None:
            Terminal(_PIPE_WIDTH).print_table(section.table)


def shown_applications(analyses: CaptureAnalyses, deadline_s: float | None) -> list[UnitsOutcome]:
    """Returns the times of the units of each kind and server that has enough of them to be shown."""
    return [
        each for each in applications_of(analyses, deadline_s) if (each["count"] or 0) >= _MIN_SHOWN
    ]


def unit_sections(analyses: CaptureAnalyses, deadline_s: float | None) -> list[Section]:
    """Returns the times of units of work, and the slowest ones of each kind with what delayed them."""
    shown = shown_applications(analyses, deadline_s)
    if not shown:
        return []
    late_heading = [] if deadline_s is None else ["late %"]
    headings = ("number", "mean ms", "median", "95 %", "99 %", "longest", *late_heading)
    rows = []
    for each in shown:
        times = (each[name] for name in ("mean_s", "p50_s", "p95_s", "p99_s", "max_s"))
        late = [] if deadline_s is None else [_percent(each["late_share"])]
        texts = ("" if time_s is None else f"{1e3 * time_s:.0f}" for time_s in times)
        name = f"{NOUNS[each['unit']]} of {each['server']}"
        rows.append((name, str(each["count"]), *texts, *late))
    columns = (Column("", no_wrap=True), *number_columns(*headings))
    table = Table(columns, tuple(rows), frame="none", title=_TIMES)
    groups = dict(_groups(analyses))
    slowest = (_slowest(each, groups[each["file"], each["server"], each["unit"]]) for each in shown)
    return [Section(_TIMES, table), *(each for each in slowest if each.text or each.table)]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"


def _slowest(application: UnitsOutcome, units: pd.DataFrame) -> Section:
    """Returns what delayed the slow units of a kind, and the slowest ones."""
    if application["unit"] == PAGE_LOAD:
        noun = NOUNS[PAGE_LOAD]
        responses, connections = (units[name].median() for name in ("responses", "connections"))
        causes = ", ".join(f"{cause} ({count})" for cause, count in application["delayed_by"].items())
        text = f"{noun}: {responses:.0f} responses over {connections:.0f} connections each"
        return Section(noun, text=(f"{text}; most of the time: {causes}" if causes else text,))
    noun, texts = NOUNS[application["unit"]], []
    if application["unit"] == FRAME:
        texts.append(
            f"{noun}: delays are from when each was due by those around it, with half the lowest RTT"
            f"{_NO_DEADLINE if application['deadline_s'] is None else ''}"
        )
    if application["unfinished"]:
        texts.append(f"{noun}: {application['unfinished']} without an end in the capture")
    errors_s = _errors_s(units)
    reasons = {
        "error_s": "came as one with others, cut by sizes and what was sent before the next: the times "
        "above include the standard error of their delays",
        "clock_error_s": "waited until the end, so that no later one shows the clock of their sender: "
        "the times above do not include the standard error of that",
    }
    error_texts = [
        f"{int((units[name] > 0).sum())} {reason}, up to {time_text(float(units[name].max()))}"
        for name, reason in reasons.items()
        if units[name].max() >= _MIN_ERROR_S
    ]
    if error_texts:
        range_text = _range_text(units, application["deadline_s"])
        texts.append(f"{noun}: {'; '.join([*error_texts, range_text])}")
    if video := video_text(units):
        texts.append(video)
    title = f"Slowest {noun}"
    if not application["delayed_by"]:
        return Section(title, text=tuple(texts))
    texts.append(f"{noun}: {slow_text(units)}")
    slow = units.assign(all_errors_s=errors_s)[units["delayed_by"] != ""]
    slow = slow.sort_values("duration_s", ascending=False)
    # Frames that came as one have one row.
    slow = slow.drop_duplicates(["connection", "up", "first_s", "last_s"]).head(_MAX_SLOWEST)
    start_ns = units["start_ns"].min()
    rows = [
        (
            str(row["connection"]),
            f"{(row['start_ns'] - start_ns) / 1e9 + row['start_s']:.2f}",
            f"{1e3 * row['duration_s']:.0f}{_error_text(row['all_errors_s'])}",
            *([_ms(row["first_byte_s"])] if application["unit"] == RESPONSE else []),
            f"{row['bytes'] / 1e3:.1f}",
            str(int(row["losses"])),
            _parts_text(row),
        )
        for row in slow.to_dict("records")
    ]
    first = ["first byte ms"] if application["unit"] == RESPONSE else []
    columns = number_columns("connection", "start s", "time ms", *first, "kB", "losses")
    table = Table(
        (*columns, Column("delayed by", no_wrap=True)), tuple(rows), frame="none", title=title
    )
    return Section(title, table, text=tuple(texts))


def _errors_s(units: pd.DataFrame) -> NDArray[np.float64]:
    """Returns the standard errors of the times of units, s: of their ends and of the clock."""
    columns = (units[name].to_numpy(float) for name in ("error_s", "clock_error_s"))
    result: NDArray[np.float64] = np.hypot(*columns)
    return result


def _error_text(error_s: float) -> str:
    """Returns a standard error as text; empty for one that is not printed."""
    return f" ±{1e3 * error_s:.0f}" if error_s >= _MIN_ERROR_S else ""


def _range_text(units: pd.DataFrame, deadline_s: float | None) -> str:
    """Returns the intervals of the 95th percentile and the late share, by standard errors, as text.

    Delays of frames in one message are too long or too short together.
    """
    done = units.dropna(subset=["duration_s"])
    times_s, errors_s = done["duration_s"].to_numpy(float), _errors_s(done)
    halves_s = NORMAL_HALF_WIDTH * errors_s
    bounds_s = [np.maximum(each, times_s.min()) for each in (times_s - halves_s, times_s + halves_s)]
    texts = [" to ".join(f"{1e3 * np.percentile(each, 95):.0f}" for each in bounds_s) + " ms for 95 %"]
    if deadline_s is not None:
        shares = " to ".join(f"{100 * (each > deadline_s).mean():.1f}" for each in bounds_s)
        texts.append(f"{shares} % late")
    return f"with all of them too long or too short, {', '.join(texts)}"


def _ms(time_s: float) -> str:
    return "" if np.isnan(time_s) else f"{1e3 * time_s:.0f}"


def _parts_text(row: dict[Any, Any]) -> str:
    """Returns what delayed a unit, with the time of that part, as text."""
    text = str(row["delayed_by"])
    # A pause of the server is no time of the server.
    named = [name for name, cause in PARTS.items() if cause in text]
    part = max(named, key=lambda name: len(PARTS[name]), default="queue_s")
    return f"{text} ({time_text(float(row[part]))})" if row[part] > 0 else text


def write_units(analyses: CaptureAnalyses, file: Path) -> Path:
    """Writes the units of work of all connections as CSV; returns the file."""
    with atomic_write(file) as partial:
        analyses.units.to_csv(partial, index=False, float_format="%.9g")
    return file
