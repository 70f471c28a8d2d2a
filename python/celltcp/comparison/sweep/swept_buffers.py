"""Swept buffers in bandwidth-delay products: the knee of goodput, and where nothing more changes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import percent_text
from celltcp.comparison.metrics import GOODPUT, words_of
from celltcp.comparison.retransmitted import ResentShare
from celltcp.comparison.sweep.best_values import Choice, FieldRanking
from celltcp.comparison.verdicts.stakes import Stake
from celltcp.results.columns import numbers, rows_of, sums_by
from celltcp.results.statistics import MARGIN
from celltcp.results.tables import Results
from celltcp.results.tested import FlowUnderTest
from celltcp.scenarios.cca_mix import has_several_flows, labels
from celltcp.scenarios.packets import PACKET_BYTES
from celltcp.scenarios.quantities import quantities
from celltcp.scenarios.quantity_texts import delay_text, digits_text, rate_text, size_text

if TYPE_CHECKING:
    import pyarrow as pa

#: Fields of buffers.
_BUFFER = re.compile(r"(?:path|links|radio\.rlc)\.(?:(?:wired\.)?\d+\.)?(?:uplink_)?buffer")
#: Minimum number of buffers for a statement on where goodput or delay ends to change.
_MIN_BUFFERS = 3
#: Congestion controls whose window is a multiple of the BDP that they measure, with that multiple.
_WINDOW_GAINS = {"bbr": 2, "bbr3": 2}
#: Mean data in flight, as a share of such a window, from which on the window is the limit.
_MIN_WINDOW_SHARE = 0.75

#: Share of its mean below which the rate of a steady link nearly never is.
_MIN_STEADY_SHARE = 0.95
#: Share of the window that remains after a loss (RFC 9438, section 4.6; RFC 5681).
_BETAS = {"cubic": 0.7, "reno": 0.5}


def buffer_texts(ranking: FieldRanking) -> list[str]:
    """Returns sentences on swept buffers of a single bulk flow: in BDPs, and on each CCA.

    The BDP is the mean capacity times the lowest RTT. There are none for other or several fields.
    """
    stakes = {stake.metric: stake for stake in ranking.stakes}
    goodput, delay = stakes.get(GOODPUT), stakes.get(ranking.delay_metric)
    values = list(dict.fromkeys(choice.value for choice in ranking.choices.values()))
    amounts, about = quantities(values), ranking.results_at(values[0]).about
    is_buffer = len(ranking.fields) == 1 and _BUFFER.fullmatch(ranking.field)
    if not is_buffer or amounts is None or goodput is None or delay is None:
        return []
    if len(FlowUnderTest.each(about)) > 1 or any(map(has_several_flows, ranking.ccas)):
        return []
    in_order = [value for _, value in sorted(zip(amounts, values, strict=True))]
    path = _Path.of(ranking, values)
    sizes = {value: text for value in in_order if (text := path.size_text(value))}
    texts = []
    if sizes:
        listed = ", ".join(f"{value} {text}" for value, text in sizes.items())
        texts.append(f"{ranking.field} in bandwidth-delay products, of {path.bdp_text}: {listed}")
    if len(in_order) < _MIN_BUFFERS or not ranking.decides:
        return texts
    names = labels(ranking.ccas)
    by_choice = {choice: name for name, choice in ranking.choices.items()}
    is_open = False
    for cca in ranking.ccas:
        choices = {value: by_choice[Choice(value, cca)] for value in in_order}
        curve = _Curve(choices, sizes, goodput, delay, ranking.resent_shares())
        reason = ""
        if cca in _WINDOW_GAINS and (value := curve.constant_from):
            reason = _window_text(cca, path.bdps_in_flight(ranking.results_at(value), cca))
        text = curve.text(reason)
        if cca in _BETAS and curve.whole_from != in_order[0]:
            text += f"; {_loss_text(_BETAS[cca], path.rates_text)}"
        texts.append(f"{names[cca]}: {text}")
        is_open |= delay.is_gain(choices[in_order[0]], choices[in_order[1]])
    if is_open:
        texts.append(f"{in_order[0]} is the smallest buffer given: smaller ones were not tried")
    return texts


class _Path(NamedTuple):
    """Path of a flow: mean rate of payload that it carries, lowest RTT, and payload of a packet."""

    mbps: float
    rtt_ms: float
    mss: float
    #: Range of the rate in 90 % of the slots; empty for a steady rate.
    rates_text: str

    @classmethod
    def of(cls, ranking: FieldRanking, values: Sequence[str]) -> _Path:
        """Returns the path from the results at all values."""
        tables = [ranking.results_at(value).tables for value in values]
        rates = [_capacity_mbps(each["slots"]) for each in tables]
        columns = ("segments", "retransmissions", "bytes", "rtt_min_ms")
        flows = [row for each in tables for row in rows_of(each["flows"], *columns)]
        segments = sum(sent - again for sent, again, _, _ in flows)
        payload = sum(count for _, _, count, _ in flows)
        runs = [run for each in tables for run in rows_of(each["runs"], "run")]
        rtts_ms = [rtt_ms for *_, rtt_ms in flows if rtt_ms is not None]
        mbps = float(np.mean(rates))
        slots = np.concatenate([numbers(each["slots"]["capacity_mbps"]) for each in tables])
        # Connections beside each other take a part of it.
        low, high = np.nanquantile(slots, (0.05, 0.95)) if len(flows) == len(runs) else (mbps, mbps)
        is_steady = low >= _MIN_STEADY_SHARE * mbps
        rates_text = "" if is_steady else f"{low:.3g} to {high:.3g} Mbit/s in 90 % of the time"
        return cls(mbps, min(rtts_ms), payload / segments, rates_text)

    @property
    def bdp(self) -> float:
        """Bandwidth-delay product, bytes of payload."""
        return self.mbps * self.rtt_ms * 1e3 / 8

    @property
    def bdp_text(self) -> str:
        """Bandwidth-delay product in bytes and packets, with rate and RTT."""
        packets, rtt = self.bdp / self.mss, delay_text(self.rtt_ms, 0)
        rate = f"{rate_text(self.mbps)} of payload at the lowest RTT, {rtt}"
        return f"{size_text(self.bdp)}, or {packets:.0f} packets ({rate})"

    def size_text(self, value: str) -> str:
        """Returns a size in BDPs; empty for one that is given so, or has an unknown unit."""
        bytes_per_s = self.mbps * 1e6 / 8
        units = {"packets": self.mss, "B": self.mss / PACKET_BYTES, "s": bytes_per_s}
        for unit, factor in units.items():
            if (size := in_unit(value, unit)) is not None:
                return f"{digits_text(size * factor / self.bdp, 2)} BDP"
        return ""

    def bdps_in_flight(self, results: Results, cca: str) -> float:
        """Returns the mean data in flight under a congestion control, BDPs."""
        rows = rows_of(results.tables["slots"], "cca", "run", "t_s", "inflight")
        slots = [(run, time_s, segments) for label, run, time_s, segments in rows if label == cca]
        sums = sums_by([slot[:2] for slot in slots], [segments for *_, segments in slots])
        return sum(sums.values()) / len(sums) * self.mss / self.bdp


def _capacity_mbps(slots: pa.Table) -> float:
    """Returns the mean capacity of all connections of a flow; each alone has what the others leave."""
    capacities, goodputs = numbers(slots["capacity_mbps"]), numbers(slots["goodput_mbps"])
    count = len({*rows_of(slots, "run", "t_s")})
    others_mbps = float(np.nansum(goodputs)) * (1 / count - 1 / len(goodputs))
    return float(np.nanmean(capacities)) + others_mbps


class _Curve(NamedTuple):
    """Goodput and delay of a congestion control along buffers in their order."""

    #: Name of the choice of each buffer, and its size in BDPs as text, unless it is given so.
    choices: Mapping[str, str]
    sizes: Mapping[str, str]
    goodput: Stake
    delay: Stake
    #: Share of the segments that are sent again, by choice.
    resent: Mapping[str, ResentShare]

    @property
    def whole_from(self) -> str:
        """The smallest buffer than which no larger one has more goodput."""
        values = [*self.choices]
        return next(
            value
            for index, value in enumerate(values)
            if not any(self._is_gain(self.goodput, larger, value) for larger in values[index + 1 :])
        )

    @property
    def constant_from(self) -> str:
        """The smallest buffer from which on neither goodput nor delay changes; empty without one."""
        values = [*self.choices]
        constant = [
            value
            for index, value in enumerate(values[:-1])
            if all(self._is_alike(value, larger) for larger in values[index + 1 :])
        ]
        return constant[0] if constant else ""

    def text(self, reason: str) -> str:
        """Returns from which buffer on goodput is whole, and from which on nothing changes.

        `reason` is why nothing changes.
        """
        values = [*self.choices]
        first, whole, constant, last = values[0], self.whole_from, self.constant_from, values[-1]
        if constant == first:
            return f"no buffer given changes goodput or {words_of(self.delay.metric).name}{reason}"
        if whole == last:
            return f"goodput grows up to {self._at(last)}, the largest buffer given"
        text = f"all buffers have as much goodput, {self._mean(self.goodput, last)}"
        if whole != first:
            below = values[values.index(whole) - 1]
            text = (
                f"goodput has its knee at {self._at(whole)}, where it is "
                f"{self._mean(self.goodput, whole)} ({self._mean(self.goodput, below)} with {below})"
            )
        end = constant or last
        changes = []
        if self._is_gain(self.delay, whole, end):
            low, high = (self._mean(self.delay, value) for value in (whole, end))
            name = words_of(self.delay.metric).name
            changes = [f"the {name} grows, {low} to {high} with {end}"]
        changes += self._fewer_repeats(whole, end)
        if changes:
            beyond = "it" if whole != first else "the smallest"
            only = "only " if len(changes) == 1 else ""
            text += f"; beyond {beyond} {only}{', and '.join(changes)}"
        if constant:
            text += f"; from {self._at(constant)} on nothing changes{reason}"
        return text

    def _fewer_repeats(self, value: str, other: str) -> list[str]:
        """Returns how retransmissions fall from one buffer to another as a clause, if they do."""
        low, high = (self.resent[self.choices[each]] for each in (other, value))
        shares = f"{percent_text(high.total)} to {percent_text(low.total)}"
        is_less = high.exceeds(low)
        return [f"retransmissions fall, {shares} of the segments with {other}"] if is_less else []

    def _is_alike(self, value: str, other: str) -> bool:
        """Returns whether the means of goodput and delay are, although runs may vary by more."""
        pairs = (
            stake.means(self.choices[value], self.choices[other])
            for stake in (self.goodput, self.delay)
        )
        return all(abs(a - b) <= MARGIN * max(a, b) for a, b in pairs)

    def _is_gain(self, stake: Stake, value: str, other: str) -> bool:
        return stake.is_gain(self.choices[value], self.choices[other])

    def _at(self, value: str) -> str:
        size = self.sizes.get(value)
        return f"{value} ({size})" if size else value

    def _mean(self, stake: Stake, value: str) -> str:
        return stake.words.own_text(*stake.means(self.choices[value]))


def _loss_text(beta: float, rates_text: str) -> str:
    """Returns which buffer keeps a link full after a loss: `beta` times (BDP and buffer) is a BDP."""
    varies_text = f"; that of this link varies, {rates_text}" if rates_text else ""
    return (
        f"one connection needs {1 / beta - 1:.2g} BDP to fill a link of steady rate, as a loss leaves "
        f"{100 * beta:.0f} % of its window{varies_text}"
    )


def _window_text(cca: str, bdps: float) -> str:
    """Returns why no buffer changes a congestion control whose window is a multiple of the BDP.

    At a steady rate its pacing, by the rate that it measures, leaves less in flight than its window.
    """
    gain = _WINDOW_GAINS[cca]
    cap = f"its window is {gain} times the BDP that it measures"
    if bdps < _MIN_WINDOW_SHARE * gain:
        cap = "it paces at the rate that it measures"
    return f", as {cap} ({bdps:.1f} BDP in flight)"
