"""Intervals of a log: the length of time of each rate, and gaps without measurement."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp._core import CelltcpError
from celltcp.logs.blocks import all_rows, concatenate, map_blocks, sample, steps_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from celltcp.logs.recording import Recording

#: Length above which a gap is a hole, in usual steps. Tools that log events leave shorter gaps.
MIN_HOLE_STEPS = 5
#: Minimum share of rows with the usual step in a regular log.
_MIN_REGULAR_SHARE = 0.75
#: Minimum step of measurements, ns; closer rows may be events, such as packets.
_MIN_SAMPLE_STEP_NS = 10**8
#: Length of the interval of a single row, ns.
_SINGLE_ROW_NS = 10**9
#: Minimum number of rows between backward steps of the clock for a run.
_MIN_RUN_ROWS = 5
#: Time by which clocks are set back at the end of summer time, ns.
_SUMMER_TIME_NS = 3_600 * 10**9


@dataclass(frozen=True)
class Intervals:
    """Intervals with a rate, in the order of time, one after another."""

    #: Lengths, ns.
    lengths: NDArray[np.int64]
    #: Rates, bit/s.
    bps: NDArray[np.float64]
    #: Indices of the first interval of each piece; the first index is 0.
    pieces: NDArray[np.int64]
    #: Usual distance between rows, ns.
    step_ns: int
    #: Number of rows with a time, of those without a rate, and of those with a negative rate.
    rows: int
    without_rate: int
    negative: int
    #: Number of rows with the time of another row, of rows out of order, of resets of a counter and of
    #: runs.
    equal_times: int
    out_of_order: int
    resets: int
    runs: int
    #: Number of gaps without measurement, their sum and the longest one, ns.
    hole_count: int
    hole_ns: int
    longest_hole_ns: int
    #: Time whose rate is imputed, with the previous rate or with zero, ns.
    imputed_ns: int
    #: Whether the first row has no interval, because its rate is that of the time before the log.
    is_first_row_dropped: bool

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
        holes: treatment of time without measurement: `cut` leaves it out, `hold` gives it the rate
            before it, and `zero` a rate of zero.

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
    usual_ns = _usual_step(runs)
    pieces: list[_Piece] = []
    equal_times = resets = 0
    for run in runs:
        merged = _merge_equal_times(run, recording)
        equal_times += len(run.ns) - len(merged.ns)
        rates = _run_rates(recording, merged, usual_ns)
        resets += rates.resets
        pieces.append(rates.piece)
    return _concatenate(
        pieces,
        holes,
        step_ns=usual_ns,
        rows=len(values),
        without_rate=_count_unknown(values) - negative,
        negative=negative,
        equal_times=equal_times,
        resets=resets,
        out_of_order=_count_out_of_order(recording, runs),
        is_first_row_dropped=recording.ends_at_row,
    )


def _count_unknown(values: NDArray[np.float64]) -> int:
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
        return all_rows(len(self.steps), lambda rows: self.steps[rows] > 0)


@dataclass(frozen=True)
class _Piece:
    """Intervals of a run, by their starts and lengths; a rate without measurement is NaN."""

    starts: NDArray[np.int64]
    lengths: NDArray[np.int64]
    bps: NDArray[np.float64]

    def is_gapless(self) -> bool:
        """Returns whether each interval is measured, and begins where the one before it ends."""
        before, after = self.starts[:-1], self.starts[1:]
        return (
            not _count_unknown(self.bps)
            and all_rows(len(self.lengths), lambda rows: self.lengths[rows] > 0)
            and all_rows(len(after), lambda rows: after[rows] - before[rows] <= self.lengths[:-1][rows])
        )


def _runs_of(recording: Recording, values: NDArray[np.float64]) -> list[_Run]:
    """Returns the runs of a recording, each in the order of time."""
    ns = recording.ns
    whole = _Run.of(ns, values)
    is_ordered = all_rows(len(whole.steps), lambda rows: whole.steps[rows] >= 0)
    if recording.runs is not None:
        bounds = np.flatnonzero(np.diff(recording.runs)) + 1
    elif is_ordered:
        return [whole]
    elif recording.is_absolute:
        bounds = _clock_resets(whole)
    else:
        # A clock that goes back near its first time starts a run; a short step back is a row out of
        # order.
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
    """Returns a run without the rows that have no rate and lie between two close rows with one.

    Such rows belong to events, or to more frequent measurements of other columns.
    """
    known = np.flatnonzero(np.isfinite(run.values))
    if len(known) in (0, len(run.ns)):
        return run
    steps = np.diff(run.ns[known])
    sampled = sample(steps)
    usual_ns = int(np.median(sampled[sampled > 0])) if (sampled > 0).any() else 0
    max_close_ns = usual_ns * 3 // 2
    is_last_close = run.ns[-1] - run.ns[known[-1]] <= max_close_ns
    # By the number of known rows up to a row: whether the known rows around it are close.
    is_close = np.concatenate([[False], steps <= max_close_ns, [is_last_close]])
    is_known = np.isfinite(run.values)
    is_used = is_known | ~is_close[np.cumsum(is_known)]
    return run if is_used.all() else _Run.of(run.ns[is_used], run.values[is_used])


def _clock_resets(run: _Run) -> NDArray[np.int64]:
    """Returns the rows at which the clock was set back, or another recording of the same time begins.

    There are none if rows are out of order one by one, or if parts of different times are in another
    order.
    """
    bounds = np.flatnonzero(run.steps < 0) + 1
    parts = np.split(run.ns, bounds)
    if min(map(len, parts)) < _MIN_RUN_ROWS:
        return np.array([], dtype=np.int64)
    usual_ns = int(np.median(np.abs(run.steps)))
    neighbour_steps = np.concatenate([run.steps[bounds - 2], run.steps[bounds]])
    if (neighbour_steps > 1.5 * usual_ns).any():
        # A row that was written late leaves a hole where it belongs.
        return np.array([], dtype=np.int64)
    is_hour = np.abs(run.steps[bounds - 1] + _SUMMER_TIME_NS - usual_ns) <= usual_ns
    spans = sorted((int(part[0]), int(part[-1])) for part in parts)
    is_overlapping = any(after <= end for (_, end), (after, _) in pairwise(spans))
    return bounds if is_overlapping or is_hour.all() else np.array([], dtype=np.int64)


def _count_out_of_order(recording: Recording, runs: list[_Run]) -> int:
    """Returns the number of rows whose time is before that of the preceding row of the same run."""
    if recording.runs is None and not recording.is_absolute:
        return 0
    if runs[0].ns is recording.ns or (recording.runs is None and len(runs) > 1):
        return 0
    falls = np.diff(recording.ns) < 0
    if recording.runs is not None:
        falls &= np.diff(recording.runs) == 0
    return int(falls.sum())


def _usual_step(runs: list[_Run]) -> int:
    """Returns the usual distance between rows, ns."""
    steps = sample(concatenate([run.steps for run in runs]))
    steps = steps[steps > 0]
    return int(np.median(steps)) if len(steps) else _SINGLE_ROW_NS


def _merge_equal_times(run: _Run, recording: Recording) -> _Run:
    """Returns a run with one value per time: mean, sum of volumes, or last value of a counter."""
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


class _RunRates(NamedTuple):
    """Intervals of a run with their rates."""

    piece: _Piece
    #: Number of resets of a counter.
    resets: int


def _run_rates(recording: Recording, run: _Run, usual_ns: int) -> _RunRates:
    """Returns the rates of a run."""
    ns, values, steps = run
    if recording.is_counter:
        known = np.isfinite(values)
        ns, values = ns[known], values[known]
        steps, amounts = np.diff(ns), np.diff(values)
        falls = amounts < 0
        # After a reset the counter has the volume since the reset.
        amounts = np.where(falls, values[1:], amounts)
        wrapped = _wraps(values, falls, amounts, recording.counter_unit)
        falls &= ~wrapped
        amounts = np.where(wrapped, np.diff(values) + recording.counter_unit * 2**32, amounts)
        if not len(steps):
            raise CelltcpError("a counter of one row has no rate")
        # Only the sum of the data in a hole is known, so that it has no rate.
        rates = np.where(steps > MIN_HOLE_STEPS * usual_ns, np.nan, amounts / (steps / 1e9))
        return _RunRates(_Piece(ns[:-1], steps, rates), int(falls.sum()))
    if recording.ends_at_row:
        if not len(steps):
            raise CelltcpError("one row alone has no interval that ends at it")
        rates = values[1:] / (steps / 1e9) if recording.is_volume else values[1:]
        return _RunRates(_Piece(ns[:-1], steps, rates), 0)
    max_length = MIN_HOLE_STEPS * usual_ns
    if recording.is_volume and usual_ns >= _MIN_SAMPLE_STEP_NS and _are_regular(steps, usual_ns):
        # A missing row does not extend the interval of the volume before it.
        max_length = usual_ns + usual_ns // 2
    last = int(steps[-1]) if len(steps) and steps[-1] <= max_length else usual_ns
    lengths = np.append(steps, last)
    if not all_rows(len(steps), lambda rows: steps[rows] <= max_length):
        lengths = np.where(lengths > max_length, usual_ns, lengths)
    rates = values / (lengths / 1e9) if recording.is_volume else values
    return _RunRates(_Piece(ns, lengths, rates), 0)


def _are_regular(steps: NDArray[np.int64], usual_ns: int) -> bool:
    """Returns whether most steps are within 10 % of the usual one."""
    sampled = sample(steps)
    is_usual = np.abs(sampled - usual_ns) <= usual_ns // 10
    return bool(len(sampled) and is_usual.mean() > _MIN_REGULAR_SHARE)


def _wraps(
    values: NDArray[np.float64],
    falls: NDArray[np.bool_],
    amounts: NDArray[np.float64],
    unit: float,
) -> NDArray[np.bool_]:
    """Returns which falls are wraps of a 32-bit counter, after which it has grown as usual."""
    limit = unit * 2**32
    if not falls.any() or falls.all() or values.max() >= limit:
        return np.zeros_like(falls)
    max_growth = amounts[~falls].max()
    return np.asarray(falls & (np.diff(values) + limit <= 2 * max_growth))


def _with_lengths(
    recording: Recording, values: NDArray[np.float64], negative: int, holes: str
) -> Intervals:
    """Returns the intervals of rows that have a column of lengths."""
    assert recording.lengths is not None
    lengths = np.maximum(recording.lengths, 0)
    has_length = lengths > 0
    starts, lengths, values = recording.ns[has_length], lengths[has_length], values[has_length]
    if not len(starts):
        raise CelltcpError("no row has a length")
    rates = values / (lengths / 1e9) if recording.is_volume else values
    ends = starts + lengths
    # Tools round times: a row that ends near the start of the next one ends there.
    is_close = np.abs(starts[1:] - ends[:-1]) <= lengths[:-1] // 10
    ends[:-1] = np.where(is_close, np.maximum(starts[1:], starts[:-1] + 1), ends[:-1])
    bounds = np.flatnonzero(np.diff(starts) < 0) + 1
    parts = [np.split(each, bounds) for each in (starts, ends - starts, rates)]
    pieces = [_Piece(*part) for part in zip(*parts, strict=True)]
    return _concatenate(
        pieces,
        holes,
        step_ns=int(np.median(lengths)),
        rows=len(values),
        without_rate=_count_unknown(values) - negative,
        negative=negative,
        equal_times=0,
        resets=0,
        out_of_order=0,
        is_first_row_dropped=False,
    )


def _concatenate(pieces: list[_Piece], holes: str, *, step_ns: int, **counts: int | bool) -> Intervals:
    """Returns the intervals of all pieces in one sequence, with holes treated as `holes` says."""
    lengths: list[NDArray[np.int64]] = []
    rates: list[NDArray[np.float64]] = []
    piece_starts: list[int] = []
    count = hole_count = hole_ns = longest_ns = imputed_ns = 0
    for piece in pieces:
        if piece.is_gapless():
            piece_starts.append(count)
            lengths.append(piece.lengths)
            rates.append(piece.bps)
            count += len(piece.bps)
            continue
        gaps = np.maximum(np.diff(piece.starts) - piece.lengths[:-1], 0)
        # Intervals and gaps alternate; a gap is an interval without a rate.
        interval_count = len(piece.starts)
        all_lengths = np.zeros(2 * interval_count - 1, dtype=np.int64)
        all_lengths[::2] = piece.lengths
        all_lengths[1::2] = gaps
        all_rates = np.full(2 * interval_count - 1, np.nan)
        all_rates[::2] = piece.bps
        is_nonempty = all_lengths > 0
        all_lengths, all_rates = all_lengths[is_nonempty], all_rates[is_nonempty]
        known = np.flatnonzero(np.isfinite(all_rates))
        if not len(known):
            continue
        all_lengths = all_lengths[known[0] : known[-1] + 1]
        all_rates = all_rates[known[0] : known[-1] + 1]
        unknown = ~np.isfinite(all_rates)
        # Neighbours without a rate are one hole.
        edges = np.flatnonzero(np.diff(np.concatenate([[0], unknown.astype(np.int8), [0]])))
        sums = np.concatenate([[0], np.cumsum(all_lengths)])
        hole_lengths = sums[edges[1::2]] - sums[edges[::2]]
        hole_count, hole_ns = hole_count + len(hole_lengths), hole_ns + int(hole_lengths.sum())
        longest_ns = max(longest_ns, int(hole_lengths.max(initial=0)))
        piece_starts.append(count)
        if holes == "cut":
            long_hole_ends = edges[1::2][hole_lengths > MIN_HOLE_STEPS * step_ns]
            known_before = np.cumsum(~unknown)
            piece_starts.extend(count + int(known_before[end - 1]) for end in long_hole_ends)
            all_lengths, all_rates = all_lengths[~unknown], all_rates[~unknown]
        else:
            imputed_ns += int(hole_lengths.sum())
            last_known = np.maximum.accumulate(np.where(unknown, 0, np.arange(len(all_rates))))
            all_rates = np.where(unknown, 0.0, all_rates) if holes == "zero" else all_rates[last_known]
        lengths.append(all_lengths)
        rates.append(all_rates)
        count += len(all_lengths)
    if not lengths:
        raise CelltcpError("no row has a rate")
    return Intervals(
        lengths=concatenate(lengths),
        bps=concatenate(rates),
        pieces=np.array(piece_starts, dtype=np.int64),
        step_ns=step_ns,
        runs=len(lengths),
        hole_count=hole_count,
        hole_ns=hole_ns,
        longest_hole_ns=longest_ns,
        imputed_ns=imputed_ns,
        **counts,  # type: ignore[arg-type]
    )
