"""Rerun: a simulation of the scenario of a captured path, compared with the capture."""

from __future__ import annotations

import itertools
import math
import tempfile
import tomllib
from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from celltcp.comparison.single_run import run
from celltcp.pcap.analysis import CaptureAnalyses, analyse, connection_rows
from celltcp.pcap.diagnosis.evidence import INTERVAL_S, mean_rtt_ms
from celltcp.pcap.estimation.endpoint_settings import likely_cca
from celltcp.pcap.units.large_requests import large_requests
from celltcp.pcap.units.unit_tables import unit_times
from celltcp.pcap.units.units import FRAME, RESPONSE
from celltcp.scenarios.lower_bounds import OTHER_THAN_CAPTURED
from celltcp.scenarios.quantity_texts import ms_text, three_digits

#: CCAs where the capture does not show one: the default of Linux, and others, which may explain it.
_CCAS = ("cubic", "bbr", "bbr3", "reno")
#: Maximum simulated time, s, and data, Mbit: some seconds of computation.
_MAX_S = 60.0
_MAX_MBIT = 8_000.0
#: Seeds of the simulations with random losses or sizes, whose draws decide the goodput of each.
_SEEDS = range(1, 6)
#: Minimum difference of a transfer beside another one, as a share of what both carry.
_MIN_SHARE = 0.1
#: Number of seeds with several flows, whose starts decide which of them yields.
_SHARED_SEEDS = 3
#: Maximum ratio of goodputs, mean RTTs, and times of requests and frames: capture and nearest
#: simulation.
_MAX_RATIO = 1.25
#: Maximum ratio of the shares of lost segments, and share below which they are too few; at a policer,
#: each burst has its losses.
_MAX_LOSS_RATIO, _MIN_LOST, _MIN_POLICED = 3, 0.01, 0.002
#: Minimum number of responses with a mean time.
_MIN_RESPONSES = 10
#: Minimum share of lost segments, and other figures, that count in a distance.
_MIN_SHOWN = 1e-5


class Passage(NamedTuple):
    """A transfer in a capture, from its start to the same time in each."""

    goodput_mbps: float
    #: Mean RTT, by bytes; NaN if it is not known.
    rtt_ms: float
    #: Share of the segments that were lost.
    lost: float
    #: Mean time of the responses, as `analyze` has it; NaN with few of them.
    response_ms: float = math.nan
    #: Delay that 95 % of the frames keep to; NaN without frames.
    frame_p95_ms: float = math.nan
    #: Goodput of the largest transfer that shares the path; NaN without.
    beside_mbps: float = math.nan

    def __str__(self) -> str:
        rtt = "" if pd.isna(self.rtt_ms) else f", mean RTT {ms_text(self.rtt_ms)}"
        times = "" if pd.isna(self.response_ms) else f", mean response {ms_text(self.response_ms)}"
        if not pd.isna(self.frame_p95_ms):
            times = f", 95 % of frames in {ms_text(self.frame_p95_ms)}"
        passed = f"{three_digits(self.goodput_mbps)} Mbit/s"
        if not pd.isna(self.beside_mbps):
            passed += f" beside {three_digits(self.beside_mbps)}"
        return f"{passed}{rtt}{times}, {100 * self.lost:.2g} % lost"


class Rerun(NamedTuple):
    """A simulation with the CCA of the captured sender, else with one that explains the capture."""

    cca: str
    is_cca_known: bool
    captured: Passage
    #: A passage for each seed: one, or several with random losses or sizes.
    runs: tuple[Passage, ...]
    #: Time that was compared where it is not all of the capture, s; 0 for all.
    first_s: float = 0.0
    #: Whether a policer drops the losses.
    is_policed: bool = False
    #: CCAs of flows that share the path, by their names, where the capture shows none.
    ccas_beside: Mapping[str, str] = MappingProxyType({})

    @property
    def span_text(self) -> str:
        """The time that was compared, as text; empty for all of the capture."""
        return f" in the first {three_digits(self.first_s)} s" if self.first_s else ""

    @property
    def cca_text(self) -> str:
        """The CCA, and whether another one than the default fits a capture that shows none, as text."""
        beside = "".join(f" beside {name}" for name in sorted(set(self.ccas_beside.values())))
        is_other = not self.is_cca_known and self.cca != _CCAS[0]
        fits = "" if self.differs else f", one that may be: {_CCAS[0]} differs, and no CCA shows"
        return f"{self.cca}{beside}{fits}" if is_other else f"{self.cca}{beside}"

    @property
    def simulated(self) -> Passage:
        """Means over the simulations."""
        return Passage(*(sum(values) / len(self.runs) for values in zip(*self.runs, strict=True)))

    @property
    def distance(self) -> float:
        """Sum of the logarithmic differences of goodput, mean RTT and losses from the capture."""
        pairs = zip(self.simulated[:3], self.captured[:3], strict=True)
        ratios = [max(one, _MIN_SHOWN) / max(other, _MIN_SHOWN) for one, other in pairs]
        return sum(abs(math.log(ratio)) for ratio in ratios if not math.isnan(ratio))

    @property
    def sentence(self) -> str:
        """Sentence of a description about a difference from the capture; empty without one."""
        if not self.differs:
            return ""
        doubt, reservation = "", ""
        if not self.is_cca_known:
            # The path may be right, and the CCA be what differs.
            doubt = ", which the capture does not show,"
            reservation = ", unless the captured sender had another CCA"
        return (
            f"Simulated with {self.cca}{doubt} it gives {self.simulated}; the capture has "
            f"{self.captured}: {OTHER_THAN_CAPTURED}{reservation}."
        )

    @property
    def differs(self) -> bool:
        """Whether goodput, RTT, times of units of work or losses are beyond all simulations."""
        rates, rtts, losses, responses, frames, beside = (
            sorted(values) for values in zip(*self.runs, strict=True)
        )
        captured = self.captured
        return (
            _is_beyond(captured.goodput_mbps, rates, _MAX_RATIO)
            or _is_beyond(captured.rtt_ms, rtts, _MAX_RATIO)
            or _is_beyond(captured.response_ms, responses, _MAX_RATIO)
            or _is_beyond(captured.frame_p95_ms, frames, _MAX_RATIO)
            # Frames that run together, as a queue or a window lets them pass, have no times.
            or (2 * np.isnan(frames).sum() >= len(frames) and not math.isnan(captured.frame_p95_ms))
            or (
                _is_beyond(captured.beside_mbps, beside, _MAX_RATIO)
                and not math.isclose(
                    captured.beside_mbps,
                    sum(beside) / len(beside),
                    abs_tol=_MIN_SHARE * (captured.goodput_mbps + captured.beside_mbps),
                )
            )
            or (
                _is_beyond(captured.lost, losses, _MAX_LOSS_RATIO)
                and max(captured.lost, losses[-1]) > (_MIN_POLICED if self.is_policed else _MIN_LOST)
            )
        )


def _is_beyond(value: float, others: Sequence[float], ratio: float) -> bool:
    """Returns whether a value is by a ratio above or below all others that are known."""
    known = [each for each in others if not math.isnan(each)]
    return bool(known) and (value > ratio * max(known) or ratio * value < min(known))


def rerun(
    scenario: Path,
    duration_s: float,
    mean_mbps: float,
    analyses: CaptureAnalyses,
    row: dict[Hashable, Any],
    *,
    nearest: bool = False,
) -> Rerun:
    """Simulates the scenario of a captured transfer, and analyses captures of that at the same place.

    Args:
        scenario: file of the scenario.
        duration_s: its duration.
        mean_mbps: its mean capacity.
        analyses: analyses of the capture.
        row: connection of the transfer.
        nearest: whether the nearest of all CCAs is simulated for a sender that shows none, in place of
            the first that does not differ.

    Raises:
        CelltcpError: if the scenario cannot run.
    """
    tables = tomllib.loads(scenario.read_text("utf-8"))
    flows = tables.get("flows", [{}])
    path, flow = tables["path"], {"from": "server", "to": "phone"} | flows[0]
    workload = flow.get("workload", {})
    are_sizes_drawn = any(isinstance(workload.get(name), dict) for name in ("size", "response"))
    has_draws = path.get("loss") or path.get("uplink_loss") or are_sizes_drawn
    seeds = _SEEDS if has_draws else _SEEDS[: _SHARED_SEEDS if flows[1:] else 1]
    # An application sends what it has, and a known CCA what it had, however fast the path.
    has_rate = "workload" in flow or likely_cca(row) is not None
    mbps = min(mean_mbps, float(row["throughput_mbps"])) if has_rate else mean_mbps
    until_s = min(duration_s, _MAX_S, _MAX_MBIT / mbps / len(seeds))
    is_policed = "policer" in path or "links" in tables
    # Large requests go from the client to the server of their flow.
    is_sent = row["direction"] == "down" or "opens" in flow
    place = flow["to" if (row["place"] == "receiver") == is_sent else "from"]
    # Pages beside it have many connections, and come last.
    beside_flows = [each for each in flows[1:] if each["name"].startswith("connection-")]
    beside_rows = [_row_of(analyses, row, _number(each)) for each in beside_flows]
    captured = _passage(analyses, [row, *beside_rows], until_s)
    start_s = float(flow.get("start", "0s").removesuffix("s"))
    shares = [_beside_mbps(analyses, each, row, until_s) for each in beside_rows]
    largest = int(np.nanargmax(shares)) + 1 if shares else 0
    captured = captured._replace(beside_mbps=shares[largest - 1] if largest else math.nan)
    first_s = until_s if until_s < row["duration_s"] - INTERVAL_S else 0.0
    cca, results = likely_cca(row), []
    unknown = [each["name"] for each in beside_flows if "cca" not in each]
    choices = _CCAS if cca is None else (cca,)
    for name, beside in itertools.product(choices, _CCAS[: 2 if unknown else 1]):
        ccas = dict.fromkeys(unknown, beside)
        case = _Case(scenario, name, ccas, place, until_s, start_s, largest, len(beside_rows))
        runs = tuple(_simulated(case, seed, captured) for seed in seeds)
        results.append(Rerun(name, cca is not None, captured, runs, first_s, is_policed, ccas))
        if not results[-1].differs and not nearest:
            return results[-1]
    if nearest and not unknown:
        return min(results, key=lambda result: result.distance)
    return min(results, key=_distance) if unknown else results[0]


def _distance(result: Rerun) -> float:
    """Returns the difference of the goodputs of the transfer and the one beside it, Mbit/s."""
    pairs = zip(result.simulated, result.captured, strict=True)
    differences = [abs(simulated - captured) for simulated, captured in pairs]
    return float(np.nansum([differences[0], differences[-1]]))


class _Case(NamedTuple):
    """A simulation until a time after the start of a transfer, captured at a place."""

    scenario: Path
    cca: str
    #: CCAs of other flows, by name.
    ccas_beside: Mapping[str, str]
    place: str
    until_s: float
    start_s: float
    #: Number of the largest flow beside the first, and of all that are compared; 0 without.
    largest: int
    beside: int


def _simulated(case: _Case, seed: int, captured: Passage) -> Passage:
    """Returns what passes in a simulation."""
    end_s = case.until_s + case.start_s
    options: dict[str, Any] = {"duration": f"{end_s:.1f}s", "samples": "off", "pcap_at": case.place}
    names = [
        flow.get("name") for flow in tomllib.loads(case.scenario.read_text("utf-8")).get("flows", [])
    ]
    options["set"] = {f"flows.{names.index(name)}.cca": cca for name, cca in case.ccas_beside.items()}
    with tempfile.TemporaryDirectory(prefix="celltcp-rerun-") as folder:
        file = Path(folder) / "run.pcap"
        run(case.scenario, case.cca, seed=seed, pcap=file, **options)
        again = analyse(file)
    # Ports of servers are in the order of flows.
    ports = {
        int(str(each["server"]).rpartition(":")[2]): each
        for each in again.connections.to_dict("records")
    }
    first = min(ports)
    own = ports[first]
    passage = _passage(again, [ports[port] for port in sorted(ports)[: 1 + case.beside]], case.until_s)
    if case.largest and (other := ports.get(first + case.largest)) is not None:
        passage = passage._replace(beside_mbps=_beside_mbps(again, other, own, case.until_s))
    # The scenario asks for pieces where an application pauses.
    missing = [name for name in ("response_ms", "frame_p95_ms") if pd.isna(getattr(captured, name))]
    return passage._replace(**dict.fromkeys(missing, math.nan))


def _number(flow: dict[str, Any]) -> int:
    """Returns the number of the connection of a flow."""
    return int(flow["name"].rpartition("-")[2])


def _row_of(analyses: CaptureAnalyses, row: Mapping[Hashable, Any], number: int) -> dict[Hashable, Any]:
    """Returns another connection of the capture of a transfer."""
    rows = analyses.connections
    is_other = (rows["file"] == row["file"]) & (rows["connection"] == number)
    (other,) = rows[is_other].to_dict("records")
    return dict(other)


def _beside_mbps(
    analyses: CaptureAnalyses,
    other: Mapping[Hashable, Any],
    row: Mapping[Hashable, Any],
    until_s: float,
) -> float:
    """Returns the goodput of another connection in the time of a transfer, Mbit/s."""
    passed = connection_rows(analyses.intervals, other, int(other["direction"] == "up"))
    times_s = passed["t_s"] + (other["start_ns"] - row["start_ns"]) / 1e9
    end_s = min(until_s, max(float(row["duration_s"]), INTERVAL_S))
    return 8e-6 * float(passed.loc[times_s.between(0, end_s), "acked_bytes"].sum()) / end_s


def _passage(
    analyses: CaptureAnalyses, flows: Sequence[Mapping[Hashable, Any]], until_s: float
) -> Passage:
    """Returns what passed of the first flow until a time, which both capture and simulation have.

    Responses are those of the first flow, else those of all.
    """
    row = flows[0]
    up = int(row["direction"] == "up")
    rows = connection_rows(analyses.intervals, row, up)
    rows = rows[rows["t_s"] < until_s]
    acked = float(rows["acked_bytes"].sum())
    losses = connection_rows(analyses.losses, row, up)
    is_lost = ~losses["kind"].isin(["spurious", "reordering"]) & (losses["t_s"] < until_s)
    sent = float((rows["bytes"] + rows["retransmitted_bytes"]).sum())
    lost = float(losses.loc[is_lost, "len"].sum()) / max(sent, 1.0)
    # The span of the rates of `analyze`. Nothing may arrive in a simulation.
    end_s = min(until_s, max(float(row["duration_s"]), INTERVAL_S))
    units = connection_rows(analyses.units, row, up)
    are_frames = (units["unit"] == FRAME) & (units["start_s"] < until_s)
    times_ms = 1e3 * unit_times(units[are_frames])
    frame_p95_ms = float(np.percentile(times_ms, 95)) if len(times_ms) else math.nan
    rtt_ms = mean_rtt_ms(rows, row["place"])
    times_s = next(
        (
            times_s
            for rows in ([row], flows)
            if len(times_s := _response_times(analyses, rows, row["start_ns"] / 1e9 + until_s))
        ),
        np.empty(0),
    )
    response_ms = 1e3 * float(times_s.mean()) if len(times_s) >= _MIN_RESPONSES else math.nan
    return Passage(8e-6 * acked / end_s, rtt_ms, lost, response_ms, frame_p95_ms)


def _response_times(
    analyses: CaptureAnalyses, rows: Sequence[Mapping[Hashable, Any]], until_s: float
) -> NDArray[np.float64]:
    """Returns the times of the responses of connections that begin before a time of the clock, s."""
    times = [np.empty(0)]
    for row in rows:
        units = connection_rows(analyses.units, row)
        if row["direction"] == "up":
            intervals = connection_rows(analyses.intervals, row, 1)
            if large_requests(row, units, intervals) is None:
                continue
        is_before = row["start_ns"] / 1e9 + units["start_s"] < until_s
        done = units.loc[(units["unit"] == RESPONSE) & is_before, "duration_s"].dropna()
        times.append(done.to_numpy(float))
    return np.concatenate(times)
