"""Distribution of the differences over random cases, and common traits of the large ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from celltcp._core import Scenario, in_unit
from celltcp.fidelity.cases import Case
from celltcp.fidelity.differences import Difference, Fidelity, Judgement

#: Quantiles of the differences that are reported.
QUANTILES = (0.5, 0.75, 0.9, 0.95)

#: Metrics with a band.
JUDGED_METRICS = ("goodput_mbps", "rtt_mean_ms", "completion_s")

#: A scenario, or a table in it, as JSON.
_Json = dict[str, Any]


def _flow_test(test: Callable[[_Json], bool]) -> Callable[[_Json], bool]:
    return lambda scenario: test(scenario["flows"][0])


def _path_test(test: Callable[[_Json], bool]) -> Callable[[_Json], bool]:
    return lambda scenario: test(scenario["path"])


def _tcp_test(name: str, default: object) -> Callable[[_Json], bool]:
    return lambda scenario: scenario["tcp"].get(name, default) != default


def _nodelay(scenario: _Json) -> object:
    """Returns TCP_NODELAY of the first flow; None if it is not set."""
    flow_nodelay = scenario["flows"][0].get("nodelay")
    return scenario["tcp"].get("nodelay") if flow_nodelay is None else flow_nodelay


#: Traits that the simplest path lacks, each with its test on a scenario.
TRAITS: dict[str, Callable[[_Json], bool]] = {
    "NR": lambda scenario: (scenario.get("radio") or {}).get("technology") == "nr",
    "LTE": lambda scenario: (scenario.get("radio") or {}).get("technology") == "lte",
    "capacity varies": _path_test(lambda path: "rate" not in path["down"]),
    "wired hop slower than the access link": lambda scenario: _hop_is_slower(scenario["path"]),
    "queue discipline": _path_test(lambda path: _kind(path["queue"]) != "droptail"),
    "loss": _path_test(lambda path: bool(path["loss"])),
    "loss of ACKs": _path_test(lambda path: bool(path["uplink_loss"])),
    "jitter": _path_test(lambda path: bool(path.get("jitter")) and not path["jitter"].get("reorder")),
    "reordering": _path_test(lambda path: bool((path.get("jitter") or {}).get("reorder"))),
    "MTU": _path_test(lambda path: path["mtu"] != "1500B"),
    "cross-traffic": _path_test(lambda path: bool(path["cross_traffic"])),
    "receive window capped": _tcp_test("receive_window_max", None),
    "receive buffer": _tcp_test("receive_buffer_max", "6MiB"),
    "send buffer": _tcp_test("send_buffer_max", "4MiB"),
    "no timestamps": _tcp_test("timestamps", True),
    "no window scale": _tcp_test("window_scale", True),
    "RTT of 300 ms and more": _path_test(lambda path: (in_unit(path["rtt"], "ms") or 0) >= 300),
    "withdrawn windows": _path_test(lambda path: bool(path.get("middleboxes"))),
    "policer": _path_test(lambda path: any("policer" in hop for hop in path["wired"])),
    "blackout": _path_test(lambda path: any("blackouts" in hop for hop in path["wired"])),
    "segment size": _tcp_test("mss", None),
    "no SACK": _tcp_test("sack", True),
    "no delay": lambda scenario: _nodelay(scenario) is True,
    "Nagle's algorithm": lambda scenario: _nodelay(scenario) is False,
    "bound of unsent data": _tcp_test("notsent_lowat", None),
    "keep-alive": _tcp_test("keepalive", None),
    "user timeout": _tcp_test("user_timeout", None),
    # Only cases with long idle times have another length of slots.
    "long idle times": lambda scenario: scenario["slot"] != "100ms",
    "workload frames": _flow_test(lambda flow: flow["workload"]["kind"] == "frames"),
    "immediate ACKs": _tcp_test("delayed_ack", True),
    "ECN": _tcp_test("ecn", False),
    "pacing": _tcp_test("pacing", False),
    "initial window": _tcp_test("initial_window", 10),
    "workload bulk with an end": _flow_test(
        lambda flow: (
            flow["workload"]["kind"] == "bulk"
            and any(flow["workload"].get(limit) is not None for limit in ("bytes", "stop"))
        )
    ),
    "workload on-off": _flow_test(lambda flow: flow["workload"]["kind"] == "on-off"),
    "workload sequence": _flow_test(lambda flow: flow["workload"]["kind"] == "sequence"),
    "workload request-response": _flow_test(
        lambda flow: flow["workload"]["kind"] == "request-response"
    ),
    "several flows": lambda scenario: sum(flow["count"] for flow in scenario["flows"]) > 1,
}


def traits_of(scenario: Scenario) -> list[str]:
    """Returns the names of a scenario's traits."""
    document = json.loads(scenario.to_json())
    return [name for name, has_trait in TRAITS.items() if has_trait(document)]


@dataclass(frozen=True)
class OutOfBand:
    """A comparison with metrics outside their bands."""

    judgement: Judgement
    metrics: list[str]
    traits: list[str]
    #: Of the case's traits, the one with the largest share of comparisons outside a band; may be empty.
    guess: str


@dataclass(frozen=True)
class Distribution:
    """Differences between the engines over random cases."""

    comparisons: int
    #: By metric: quantiles of the absolute difference, in percent of the kernel's mean.
    quantiles: dict[str, dict[float, float]]
    #: By metric: share of the comparisons in the band, or whose interval overlaps it.
    within_share: dict[str, float]
    #: By trait: number of comparisons that have it, and how many of them are outside a band.
    traits: dict[str, tuple[int, int]]
    outside: list[OutOfBand]

    def to_json(self) -> dict[str, Any]:
        """Returns the distribution as JSON."""
        return {
            "comparisons": self.comparisons,
            "metrics": {
                metric: {
                    "within": self.within_share[metric],
                    **{f"p{100 * share:g}_percent": value for share, value in quantiles.items()},
                }
                for metric, quantiles in self.quantiles.items()
            },
            "traits": {
                name: {"comparisons": count, "beyond": outside_count}
                for name, (count, outside_count) in self.traits.items()
            },
            "outside": [
                {
                    "case": out_of_band.judgement.case,
                    "cca": out_of_band.judgement.cca,
                    "metrics": out_of_band.metrics,
                    "traits": out_of_band.traits,
                    "guess": out_of_band.guess,
                }
                for out_of_band in self.outside
            ],
        }


def distribution_of(fidelity: Fidelity, cases: Sequence[Case]) -> Distribution:
    """Summarizes judgements of random cases."""
    traits = {case.name: traits_of(case.scenario) for case in cases}
    counts = dict.fromkeys(TRAITS, (0, 0))
    for judgement in fidelity.judgements:
        for name in traits[judgement.case]:
            count, outside_count = counts[name]
            counts[name] = (count + 1, outside_count + bool(_metrics_outside(judgement)))
    outside = [
        OutOfBand(judgement, metrics, case_traits, _likeliest_trait(case_traits, counts))
        for judgement in fidelity.judgements
        for case_traits in [traits[judgement.case]]
        if (metrics := _metrics_outside(judgement))
    ]
    judged = {
        metric: differences
        for metric in JUDGED_METRICS
        if (differences := _judged_differences(fidelity, metric))
    }
    return Distribution(
        len(fidelity.judgements),
        {
            metric: {share: float(sizes.quantile(share)) for share in QUANTILES}
            for metric, differences in judged.items()
            for sizes in [pd.Series([abs(difference.percent) for difference in differences])]
        },
        {
            metric: 1 - sum(difference.is_outside for difference in differences) / len(differences)
            for metric, differences in judged.items()
        },
        {name: count for name, count in counts.items() if count[0]},
        outside,
    )


def _metrics_outside(judgement: Judgement) -> list[str]:
    return [metric for metric in JUDGED_METRICS if judgement.differences[metric].is_outside]


def _judged_differences(fidelity: Fidelity, metric: str) -> list[Difference]:
    """Returns the differences of a metric in cases where it has a band."""
    differences = (judgement.differences[metric] for judgement in fidelity.judgements)
    return [difference for difference in differences if difference.band is not None]


def _likeliest_trait(traits: Sequence[str], counts: dict[str, tuple[int, int]]) -> str:
    return max(traits, key=lambda name: counts[name][1] / counts[name][0], default="")


def _kind(queue: str | dict[str, Any]) -> str:
    return queue if isinstance(queue, str) else str(queue["kind"])


def _hop_is_slower(path: _Json) -> bool:
    """Returns whether a wired hop is slower than the access link; False if the link's rate varies."""
    access = in_unit(path["down"].get("rate"), "bit/s")
    rates = [in_unit(hop["rate"].get("rate"), "bit/s") for hop in path["wired"]]
    return access is not None and any(rate is not None and rate < access for rate in rates)
