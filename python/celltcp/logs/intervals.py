"""Intervals of a log: the duration of each rate, and gaps without measurement."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.logs.blocks import holds, joined, map_blocks, sample, steps_of
from celltcp.logs.errors import log_error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.logs.recording import Recording

#: Minimum gap that is a hole, in usual steps. Tools that log on events leave gaps of some steps.
HOLE_STEPS = 5
#: Minimum share of rows with the usual step in a regular log.
_REGULAR_SHARE = 0.75
#: Minimum step of measurements, ns; closer rows may be events, such as packets.
_MIN_SAMPLE_STEP_NS = 10**8
#: Length of a single row, ns.
_ALONE_NS = 10**9
#: Minimum rows after a backward step of the clock for a run of its own.
_ROWS_OF_A_RUN = 5
#: Time by which clocks fall at the end of summer time.
_SUMMER_TIME_NS = 3_600 * 10**9


@dataclass(frozen=True)
class Intervals:
    """Intervals with a rate, in the order of time, one after another."""

    #: Lengths, ns.
    lengths: NDArray[np.int64]
    #: Rates, bit/s.
    bps: NDArray[np.float64]
    #: Numbers of the intervals with which a piece begins; zero is the first.
    pieces: NDArray[np.int64]
    #: Usual distance between rows, ns.
    step_ns: int
    #: Rows of the file that have times, and those without a rate.
    rows: int
    without_rate: int
    negative: int
    #: Rows with the time of another one, rows that were out of order, resets of a counter.
    doubled: int
    sorted: int
    resets: int
    runs: int
    #: Gaps without measurement: number, sum and longest, ns.
    holes: int
    hole_ns: int
    longest_hole_ns: int
    #: Time whose rate is imputed, by holding the previous one or with zero, ns.
    made_up_ns: int
    #: Whether the first row has no interval, as its rate is of the time before the log.
    left_first: bool

    @property
    def length_ns(self) -> int:
        """Sum of the lengths, ns."""
        return int(self.lengths.sum())

    @property
    def mean_bps(self) -> float:
        """Mean rate, bit/s."""
        bits = map_blocks(
            len(self.bps), lambda rows: float((self.bps[rows] * self.lengths[rows]).sum())
        )
        return sum(bits) / max(self.length_ns, 1)


def intervals_of(recording: Recording, holes: str) -> Intervals:
    """Returns the intervals of a recording.

    Args:
        recording: rows in the order of the file.
        holes: `cut` leaves the time out that was not measured, `hold` gives it the rate before it, and
            `zero` none.

    Raises:
        CelltcpError: if nothing was measured.
    """
    values = recording.values
    negative = sum(map_blocks(len(values), lambda rows: int(np.count_nonzero(values[rows] < 0))))
    if negative:
        values = np.where(values < 0, np.nan, values)
    if recording.lengths is not None:
        return _with_lengths(recording, values, negative, holes)
    runs = [_without_events(run) for run in _runs_of(recording, values)]
    usual = _usual(runs)
    pieces: list[_Piece] = []
    doubled = resets = 0
    for run in runs:
        merged = _merged(run, recording)
        doubled += len(run.ns) - len(merged.ns)
        piece, falls = _rates(recording, merged, usual)
        resets += falls
        pieces.append(piece)
    return _joined(
        pieces,
        holes,
        step_ns=usual,
        rows=len(values),
        without_rate=_unknown(values) - negative,
        negative=negative,
        doubled=doubled,
        resets=resets,
        sorted=_out_of_order(recording, runs),
        left_first=recording.ends_at_row,
    )


def _unknown(values: NDArray[np.float64]) -> int:
    return sum(map_blocks(len(values), lambda rows: int(np.count_nonzero(~np.isfinite(values[rows])))))


class _Run(NamedTuple):
    """Rows of a run, in the order of time."""

    ns: NDArray[np.int64]
    values: NDArray[np.float64]
    #: Times between the rows, ns.
    steps: NDArray[np.int64]

    @classmethod
    def of(cls, ns: NDArray[np.int64], values: NDArray[np.float64]) -> _Run:
        return cls(ns, values, steps_of(ns))

    def is_rising(self) -> bool:
        """Returns whether no two rows have the same time."""
        return holds(len(self.steps), lambda rows: self.steps[rows] > 0)


@dataclass(frozen=True)
class _Piece:
    """Intervals of a run, by their starts and lengths; NaN rates are not measured."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    bps: NDArray[np.float64]

    def is_gapless(self) -> bool:
        """Returns whether each interval is measured, and begins where the one before it ends."""
        before, after = self.starts[:-1], self.starts[1:]
        return (
            not _unknown(self.bps)
            and holds(len(self.lengths), lambda rows: self.lengths[rows] > 0)
            and holds(len(after), lambda rows: after[rows] - before[rows] <= self.lengths[:-1][rows])
        )


def _runs_of(recording: Recording, values: NDArray[np.float64]) -> list[_Run]:
    """Returns times and values of each run, in the order of time."""
    ns = recording.ns
    whole = _Run.of(ns, values)
    is_ordered = holds(len(whole.steps), lambda rows: whole.steps[rows] >= 0)
    if recording.runs is not None:
        bounds = np.flatnonzero(np.diff(recording.runs)) + 1
    elif is_ordered:
        return [whole]
    elif recording.is_absolute:
        bounds = _set_back(whole)
    else:
        # A clock that goes back to where it began starts a run; a little back is out of order.
        falls = np.flatnonzero(whole.steps < 0) + 1
        span = int(ns.max() - ns.min())
        bounds = falls[ns[falls] - ns.min() < 0.2 * span]
        if len(bounds) < len(falls) and len(falls) > 3 * len(bounds):
            bounds = np.array([], dtype=np.int64)
    result = []
    for run_ns, run_values in zip(np.split(ns, bounds), np.split(values, bounds), strict=True):
        if (np.diff(run_ns) < 0).any():
            order = np.argsort(run_ns, kind="stable")
            run_ns, run_values = run_ns[order], run_values[order]
        result.append(_Run.of(run_ns, run_values))
    return result


def _without_events(run: _Run) -> _Run:
    """Returns a run without rows that have no rate between two that follow each other as usual.

    They are of events, or of more frequent measurements.
    """
    known = np.flatnonzero(np.isfinite(run.values))
    if len(known) in (0, len(run.ns)):
        return run
    steps = np.diff(run.ns[known])
    some = sample(steps)
    usual = int(np.median(some[some > 0])) if (some > 0).any() else 0
    # The number of rows with a rate so far is that of the step that a row is in.
    longest = usual * 3 // 2
    is_last_near = run.ns[-1] - run.ns[known[-1]] <= longest
    near = np.concatenate([[False], steps <= longest, [is_last_near]])
    is_known = np.isfinite(run.values)
    is_kept = is_known | ~near[np.cumsum(is_known)]
    return run if is_kept.all() else _Run.of(run.ns[is_kept], run.values[is_kept])


def _set_back(run: _Run) -> NDArray[np.int64]:
    """Returns the rows at which the clock was set back, or a recording of the same time begins.

    Rows that are out of order are few in a row, and parts in another order are of other times.
    """
    bounds = np.flatnonzero(run.steps < 0) + 1
    parts = np.split(run.ns, bounds)
    if min(map(len, parts)) < _ROWS_OF_A_RUN:
        return np.array([], dtype=np.int64)
    usual = int(np.median(np.abs(run.steps)))
    around = np.concatenate([run.steps[bounds - 2], run.steps[bounds]])
    if (around > 1.5 * usual).any():
        # A late row leaves a hole at its proper position.
        return np.array([], dtype=np.int64)
    hour = np.abs(run.steps[bounds - 1] + _SUMMER_TIME_NS - usual) <= usual
    spans = sorted((int(part[0]), int(part[-1])) for part in parts)
    is_doubled = any(after <= end for (_, end), (after, _) in pairwise(spans))
    return bounds if is_doubled or hour.all() else np.array([], dtype=np.int64)


def _out_of_order(recording: Recording, runs: list[_Run]) -> int:
    """Returns the number of rows that come after a later one of the same run."""
    if recording.runs is None and not recording.is_absolute:
        return 0
    if runs[0].ns is recording.ns or (recording.runs is None and len(runs) > 1):
        return 0
    falls = np.diff(recording.ns) < 0
    if recording.runs is not None:
        falls &= np.diff(recording.runs) == 0
    return int(falls.sum())


def _usual(runs: list[_Run]) -> int:
    """Returns the usual distance between rows, ns."""
    steps = sample(joined([run.steps for run in runs]))
    steps = steps[steps > 0]
    return int(np.median(steps)) if len(steps) else _ALONE_NS


def _merged(run: _Run, recording: Recording) -> _Run:
    """Returns rows with one value for each time: the mean, the sum of amounts, a counter's last one."""
    if run.is_rising():
        return run
    ns, values = run.ns, run.values
    times, first, counts = np.unique(ns, return_index=True, return_counts=True)
    if recording.is_counter:
        return _Run.of(times, values[first + counts - 1])
    known = np.isfinite(values)
    sums = np.add.reduceat(np.where(known, values, 0.0), first)
    numbers = np.add.reduceat(known.astype(np.int64), first)
    divisors = np.minimum(numbers, 1) if recording.is_volume else numbers
    with np.errstate(invalid="ignore", divide="ignore"):
        return _Run.of(times, sums / np.where(numbers, divisors, np.nan))


def _rates(recording: Recording, run: _Run, usual: int) -> tuple[_Piece, int]:
    """Returns the intervals of a run, and the resets of a counter."""
    ns, values, steps = run
    if recording.is_counter:
        known = np.isfinite(values)
        ns, values = ns[known], values[known]
        steps, amounts = np.diff(ns), np.diff(values)
        falls = amounts < 0
        # After a reset the counter has what came since.
        amounts = np.where(falls, values[1:], amounts)
        wrapped = _wrapped(values, falls, amounts, recording.counter_unit)
        falls &= ~wrapped
        amounts = np.where(wrapped, np.diff(values) + recording.counter_unit * 2**32, amounts)
        if not len(steps):
            raise log_error("a counter of one row has no rate")
        # Of the data in a hole only the sum is known.
        rates = np.where(steps > HOLE_STEPS * usual, np.nan, amounts / (steps / 1e9))
        return _Piece(ns[:-1], steps, rates), int(falls.sum())
    if recording.ends_at_row:
        if not len(steps):
            raise log_error("one row alone has no interval that ends at it")
        rates = values[1:] / (steps / 1e9) if recording.is_volume else values[1:]
        return _Piece(ns[:-1], steps, rates), 0
    longest = HOLE_STEPS * usual
    if recording.is_volume and usual >= _MIN_SAMPLE_STEP_NS and _are_regular(steps, usual):
        # A missing row does not extend the interval of the amount before it.
        longest = usual + usual // 2
    last = int(steps[-1]) if len(steps) and steps[-1] <= longest else usual
    lengths = np.append(steps, last)
    if not holds(len(steps), lambda rows: steps[rows] <= longest):
        lengths = np.where(lengths > longest, usual, lengths)
    rates = values / (lengths / 1e9) if recording.is_volume else values
    return _Piece(ns, lengths, rates), 0


def _are_regular(steps: NDArray[np.int64], usual: int) -> bool:
    """Returns whether most rows have the usual distance."""
    some = sample(steps)
    return bool(len(some) and (np.abs(some - usual) <= usual // 10).mean() > _REGULAR_SHARE)


def _wrapped(
    values: NDArray[np.float64],
    falls: NDArray[np.bool_],
    amounts: NDArray[np.float64],
    unit: float,
) -> NDArray[np.bool_]:
    """Returns the falls at which a 32-bit counter wrapped around: its growth continues."""
    limit = unit * 2**32
    if not falls.any() or falls.all() or values.max() >= limit:
        return np.zeros_like(falls)
    most = amounts[~falls].max()
    return np.asarray(falls & (np.diff(values) + limit <= 2 * most))


def _with_lengths(
    recording: Recording, values: NDArray[np.float64], negative: int, holes: str
) -> Intervals:
    """Returns the intervals of rows that say how long they last."""
    assert recording.lengths is not None
    lengths = np.maximum(recording.lengths, 0)
    used = lengths > 0
    starts, lengths, values = recording.ns[used], lengths[used], values[used]
    if not len(starts):
        raise log_error("no row has a length")
    rates = values / (lengths / 1e9) if recording.is_volume else values
    ends = starts + lengths
    # Clocks of tools are rounded: the next row begins where the one before ends.
    close = np.abs(starts[1:] - ends[:-1]) <= lengths[:-1] // 10
    ends[:-1] = np.where(close, np.maximum(starts[1:], starts[:-1] + 1), ends[:-1])
    bounds = np.flatnonzero(np.diff(starts) < 0) + 1
    parts = [np.split(each, bounds) for each in (starts, ends - starts, rates)]
    pieces = [_Piece(*part) for part in zip(*parts, strict=True)]
    return _joined(
        pieces,
        holes,
        step_ns=int(np.median(lengths)),
        rows=len(values),
        without_rate=_unknown(values) - negative,
        negative=negative,
        doubled=0,
        resets=0,
        sorted=0,
        left_first=False,
    )


def _joined(pieces: list[_Piece], holes: str, *, step_ns: int, **counts: int | bool) -> Intervals:
    """Returns the pieces one after another, with their holes interpreted."""
    lengths: list[NDArray[np.int64]] = []
    rates: list[NDArray[np.float64]] = []
    begins: list[int] = []
    total = hole_count = hole_ns = longest = made_up = 0
    for piece in pieces:
        if piece.is_gapless():
            begins.append(total)
            lengths.append(piece.lengths)
            rates.append(piece.bps)
            total += len(piece.bps)
            continue
        gaps = np.maximum(np.diff(piece.starts) - piece.lengths[:-1], 0)
        # A piece is a row of intervals and gaps; a gap is an interval without a rate.
        count = len(piece.starts)
        all_lengths = np.zeros(2 * count - 1, dtype=np.int64)
        all_lengths[::2] = piece.lengths
        all_lengths[1::2] = gaps
        all_rates = np.full(2 * count - 1, np.nan)
        all_rates[::2] = piece.bps
        nonempty = all_lengths > 0
        all_lengths, all_rates = all_lengths[nonempty], all_rates[nonempty]
        known = np.flatnonzero(np.isfinite(all_rates))
        if not len(known):
            continue
        all_lengths = all_lengths[known[0] : known[-1] + 1]
        all_rates = all_rates[known[0] : known[-1] + 1]
        unknown = ~np.isfinite(all_rates)
        # Neighbours without a rate are one hole.
        edges = np.flatnonzero(np.diff(np.concatenate([[0], unknown.astype(np.int8), [0]])))
        sums = np.concatenate([[0], np.cumsum(all_lengths)])
        each = sums[edges[1::2]] - sums[edges[::2]]
        hole_count, hole_ns = hole_count + len(each), hole_ns + int(each.sum())
        longest = max(longest, int(each.max(initial=0)))
        begins.append(total)
        if holes == "cut":
            long = edges[1::2][each > HOLE_STEPS * step_ns]
            known_before = np.cumsum(~unknown)
            begins.extend(total + int(known_before[end - 1]) for end in long)
            all_lengths, all_rates = all_lengths[~unknown], all_rates[~unknown]
        else:
            made_up += int(each.sum())
            places = np.maximum.accumulate(np.where(unknown, 0, np.arange(len(all_rates))))
            all_rates = np.where(unknown, 0.0, all_rates) if holes == "zero" else all_rates[places]
        lengths.append(all_lengths)
        rates.append(all_rates)
        total += len(all_lengths)
    if not lengths:
        raise log_error("no row has a rate")
    return Intervals(
        lengths=joined(lengths),
        bps=joined(rates),
        pieces=np.array(begins, dtype=np.int64),
        step_ns=step_ns,
        runs=len(lengths),
        holes=hole_count,
        hole_ns=hole_ns,
        longest_hole_ns=longest,
        made_up_ns=made_up,
        **counts,  # type: ignore[arg-type]
    )
