"""Rule about periods in which units of work take longer: another flow sends, or the link is slow."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp.comparison.applications.units_of_work import UNITS
from celltcp.comparison.explanation.causes.cause import Cause, percent_text
from celltcp.comparison.explanation.causes.hosts import slow_link
from celltcp.comparison.explanation.causes.overload import overload
from celltcp.comparison.explanation.causes.path import intervals_overlap_outages
from celltcp.comparison.explanation.causes.tail import UNIT_KINDS
from celltcp.scenarios.quantity_texts import rate_text, time_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import pandas as pd
    from numpy.typing import NDArray

    from celltcp.comparison.explanation.evidence.evidence import Evidence

    #: Values of the slots of each run from its start on; NaN for unknown ones.
    _SlotValues = Mapping[int, NDArray[np.float64]]

#: Minimum ratio of the median durations in and out of a period of a slow link, and of another flow.
_MIN_RATIO, _MIN_BUSY_RATIO = 1.5, 1.2
#: Minimum z-score of the rank-sum test (Mann and Whitney) of the durations in and out of a period.
_MIN_Z = 3.0
#: Minimum share of the time of all units that is more than they take out of the period.
_MIN_EXCESS = 0.05
#: Minimum share of a unit's time in a period.
_MIN_WITHIN = 0.5
#: Minimum ratio of the rates of the link in and out of a period, and number of rates to divide at.
_MIN_RATE_RATIO, _RATES = 1.5, 20
#: Minimum share of what units take longer on a slow link that its rate and its queue explain.
_MIN_EXPLAINED = 0.2


class _Period(NamedTuple):
    """Time in which units may take longer, and the units in it."""

    #: Clause that names it.
    text: str
    #: Share of the time.
    share: float
    #: Durations of the units in it and out of it, s; infinite for unfinished ones.
    within: NDArray[np.float64]
    outside: NDArray[np.float64]
    #: Minimum ratio of their medians.
    min_ratio: float

    @property
    def excess(self) -> float:
        """Share of the time of all units that is more than they take out of the period; 0 to 1."""
        within, outside = (each[np.isfinite(each)] for each in (self.within, self.outside))
        more_s = within.sum() - len(within) * np.median(outside)
        return float(min(max(more_s / (within.sum() + outside.sum()), 0.0), 1.0))

    @property
    def more_s(self) -> float:
        """Difference of the median durations in it and out of it, s."""
        return float(np.median(self.within) - np.median(self.outside))

    @property
    def is_slow(self) -> bool:
        """Whether units take longer in the period."""
        counts = len(self.within), len(self.outside)
        if not all(counts):
            return False
        medians = np.median(self.within), np.median(self.outside)
        if not all(map(np.isfinite, medians)) or medians[0] < self.min_ratio * medians[1]:
            return False
        ordered = np.sort(self.outside)
        ranks = [np.searchsorted(ordered, self.within, side) for side in ("left", "right")]
        area = float(np.mean(ranks)) / counts[1]
        deviation = np.sqrt((sum(counts) + 1) / (12 * counts[0] * counts[1]))
        return bool(area - 0.5 >= _MIN_Z * deviation) and self.excess >= _MIN_EXCESS


def slow_periods(evidence: Evidence) -> Cause | None:
    """Units of work took longer while another flow sent, or the link was slow.

    They took {_MIN_BUSY_RATIO} and {_MIN_RATIO} times as long. These are the medians of units with at
    least {_MIN_WITHIN:.0%} of their time in such a period and of the others. Their ranks differ by
    {_MIN_Z:.0f} standard deviations (Mann and Whitney), and units in the period took at least
    {_MIN_EXCESS:.0%} of the time of all more than others. The rate below which the link is slow divides
    the durations best, outside outages. At that rate their bytes, and the wait of their data, take at
    least {_MIN_EXPLAINED:.0%} of what they take longer.
    """
    units = evidence.units
    if units is None or evidence.slots.empty:
        return None
    units = units[units["unit"].isin(UNIT_KINDS)]
    periods = [each for each in (*_busy(evidence, units), *_slow(evidence, units)) if each.is_slow]
    if not periods:
        return None
    worst = max(periods, key=lambda each: each.excess)
    within_s, outside_s = np.median(worst.within), np.median(worst.outside)
    noun = UNITS[str(units["unit"].iloc[0])].noun.capitalize()
    return Cause(
        "slow_periods",
        f"{noun} took {time_text(within_s)} while {worst.text} ({percent_text(worst.share)} of the "
        f"time), and {time_text(outside_s)} otherwise (medians).",
        worst.excess,
    )


def _busy(evidence: Evidence, units: pd.DataFrame) -> Iterator[_Period]:
    """Yields the time in which each other flow sends, of those that fill queues."""
    for name in {**evidence.competing_mbps, **evidence.reverse_mbps}:
        if evidence.is_thin_flow(name):
            continue
        connections = evidence.all_connections
        keys = connections.loc[connections["name"] == name, ["run", "flow"]]
        slots = evidence.comparison.slots.merge(keys, on=["run", "flow"])
        slots = slots[(slots["rate_mbps"] > 0) | (slots["inflight"] > 0)]
        is_busy = _by_run(evidence, slots.assign(is_busy=1.0).groupby(["run", "t_s"])["is_busy"].max())
        busy = {run: np.nan_to_num(values) for run, values in is_busy.items()}
        is_within = _means(evidence, units, busy) >= _MIN_WITHIN
        share = float(np.mean(np.concatenate(list(busy.values()))))
        yield _period(f"{name} sent", share, units, is_within, _MIN_BUSY_RATIO)


def _slow(evidence: Evidence, units: pd.DataFrame) -> Iterator[_Period]:
    """Yields the time in which the link has less than the rate that divides the durations best."""
    # A link that frames overload has a cause of its own.
    if overload(evidence) or slow_link(evidence):
        return
    by_slot = link_rates(evidence)
    start_s, end_s = units["start_s"], units["end_s"].fillna(np.inf)
    met = intervals_overlap_outages(units, start_s, end_s, [*evidence.outages, *evidence.ack_outages])
    units = units[~met]
    rates = _means(evidence, units, by_slot)
    units, rates = units[np.isfinite(rates)], rates[np.isfinite(rates)]
    logs = np.log(units["duration_s"].fillna(units["duration_s"].max()).clip(lower=1e-6).to_numpy())
    best, min_error = None, np.inf
    for rate in np.unique(np.quantile(rates, np.linspace(0.05, 0.95, _RATES))) if len(rates) else ():
        is_within = rates <= rate
        if is_within.all() or np.median(rates[~is_within]) < _MIN_RATE_RATIO * np.median(
            rates[is_within]
        ):
            continue
        error = sum(len(part) * part.var() for part in (logs[is_within], logs[~is_within]))
        if error < min_error:
            best, min_error = is_within, error
    if best is None:
        return
    bound = (rates[best].max() + rates[~best].min()) / 2
    known = np.concatenate(list(by_slot.values()))
    share = float(np.mean(known[np.isfinite(known)] < bound))
    period = _period(f"the link carried less than {rate_text(bound)}", share, units, best, _MIN_RATIO)
    if period.is_slow and _makes_longer(evidence, bound, by_slot, period.more_s, len(units)):
        yield period


def _makes_longer(
    evidence: Evidence, bound_mbps: float, by_slot: _SlotValues, more_s: float, count: int
) -> bool:
    """Returns whether a link below a rate can make units take that much longer.

    It does by the time that it needs for their bytes, and by the wait of their data before it. Else
    both happened at the same time by chance, as where their ACKs wait for data on the other link.
    """
    transfer_s = 8e-6 * evidence.total("bytes") / count / bound_mbps
    slots = evidence.slots.dropna(subset=["owd_mean_ms"])
    numbers = np.round(slots["t_s"].to_numpy(float) / evidence.slot_s).astype(int)
    runs = slots["run"].tolist()
    rates = np.array(
        [by_slot[run][min(n, len(by_slot[run]) - 1)] for run, n in zip(runs, numbers, strict=True)]
    )
    owds_ms = slots["owd_mean_ms"].to_numpy(float)
    slow, fast = owds_ms[rates < bound_mbps], owds_ms[rates >= bound_mbps]
    wait_s = (slow.mean() - fast.mean()) / 1e3 if len(slow) and len(fast) else 0.0
    return bool(transfer_s + wait_s >= _MIN_EXPLAINED * more_s)


def _period(
    text: str, share: float, units: pd.DataFrame, is_within: NDArray[np.bool_], min_ratio: float
) -> _Period:
    durations_s = units["duration_s"].fillna(np.inf).to_numpy(float)
    return _Period(text, share, durations_s[is_within], durations_s[~is_within], min_ratio)


def link_rates(evidence: Evidence) -> _SlotValues:
    """Returns the rate of the whole link by run in each slot, Mbit/s of payload.

    The capacity of a connection lacks what the others of its direction use.
    """
    slots = evidence.comparison.slots.merge(
        evidence.direction_connections[["run", "flow"]], on=["run", "flow"]
    )
    used = slots.groupby(["run", "t_s"])["rate_mbps"].transform("sum") - slots["rate_mbps"]
    whole = (slots["capacity_mbps"] + used).groupby([slots["run"], slots["t_s"]]).max()
    return _by_run(evidence, whole)


def _by_run(evidence: Evidence, values: pd.Series) -> _SlotValues:
    """Returns values, by run and start of their slot, as an array for each run."""
    durations_s = dict(
        zip(evidence.comparison.runs["run"], evidence.comparison.runs["duration_s"], strict=True)
    )
    result = {}
    for run in evidence.runs:
        array = np.full(max(round(durations_s[run] / evidence.slot_s), 1), np.nan)
        if run in values.index.get_level_values("run"):
            own = values.xs(run, level="run")
            numbers = np.round(own.index.to_numpy(float) / evidence.slot_s).astype(int)
            is_known = numbers < len(array)
            array[numbers[is_known]] = own.to_numpy(float)[is_known]
        result[run] = array
    return result


def _means(evidence: Evidence, units: pd.DataFrame, values: _SlotValues) -> NDArray[np.float64]:
    """Returns the mean value of the slots in which each unit was under way; NaN for unknown ones."""
    means = np.full(len(units), np.nan)
    for run, array in values.items():
        is_own = (units["run"] == run).to_numpy()
        sums, counts = (
            np.concatenate(([0.0], np.cumsum(each)))
            for each in (np.nan_to_num(array), np.isfinite(array))
        )
        own = units[is_own]
        first, last = (
            np.clip((times_s / evidence.slot_s).astype(int), 0, len(array) - 1)
            for times_s in (own["start_s"], own["end_s"].fillna(len(array) * evidence.slot_s))
        )
        known = counts[last + 1] - counts[first]
        with np.errstate(invalid="ignore"):
            means[is_own] = (sums[last + 1] - sums[first]) / known
    return means
