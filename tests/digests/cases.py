"""Cases of the digests: every family of scenarios, CCAs, queues, workloads and policies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Case:
    """One run."""

    name: str
    scenario: str
    cca: str
    changes: Mapping[str, str] = field(default_factory=dict)
    duration: str = "4s"
    seed: int = 1
    radio_log: bool = False


_SEQUENCE = (
    '{ kind = "sequence", size = { kind = "lognormal", median = "100kB", sigma = 1.0 }, '
    'gap = { kind = "exponential", mean = "200ms" } }'
)
_ON_OFF = (
    '{ kind = "on-off", on = "700ms", off = { kind = "exponential", mean = "300ms" }, '
    'rate = "8Mbit/s" }'
)
_CROSS = (
    '[{ rate = "4Mbit/s", on = { kind = "exponential", mean = "500ms" }, '
    'off = { kind = "uniform", min = "100ms", max = "1s" } }]'
)
_SWITCH = (
    '[{ at = "1s", to = "bbr", mode = "kernel" }, { at = "2s", to = "vegas", mode = "context" }, '
    '{ at = "3s", to = "cubic", mode = "context" }]'
)
#: Buffer that the scenarios of the testbed had when their digests were taken.
_MOBILITY = {"radio.rlc.buffer": "80packets"}

NATIVE = (
    Case("steady-cubic", "steady-20-68", "cubic"),
    Case("steady-switch", "steady-20-18", "reno", {"flows.0.switch": _SWITCH}),
    Case("short-buffer-bbr", "buffers/short", "bbr"),
    Case("drive-bbr3", "drive", "bbr3", duration="6s"),
    Case(
        "codel-loss-westwood",
        "steady-100-18",
        "westwood",
        {"path.queue": "codel", "path.loss": "0.001"},
    ),
    Case(
        "fq-codel-two-flows",
        "fairness",
        "htcp+vegas",
        {"path.queue": "fq-codel", "flows.1.start": "1s"},
    ),
    Case(
        "pie-jitter-illinois",
        "steady-20-68",
        "illinois",
        {"path.queue": "pie", "path.jitter.sd": "3ms"},
    ),
    Case(
        "threshold-dctcp",
        "steady-20-18",
        "dctcp",
        {"path.queue": "threshold", "path.mtu": "1400B"},
    ),
    Case("outage-cdg", "outage", "cdg", duration="12s"),
    Case("rise-lp-cross", "rise", "lp", {"path.cross_traffic": _CROSS}, duration="10s"),
    Case(
        "fall-bursts-veno",
        "fall",
        "veno",
        {"path.loss": '{ kind = "gilbert-elliott", to_bad = 0.001, to_good = 0.3 }'},
    ),
    Case("window-scale", "limits/window-scale", "bic"),
    Case("parallel-yeah", "limits/parallel", "yeah", duration="2s"),
    Case("startup-ledbat", "startup/operator-1", "ledbat"),
    Case("sequence-hybla", "steady-5-68", "hybla", {"flows.0.workload": _SEQUENCE}, duration="8s"),
    Case("on-off-scalable", "steady-20-68", "scalable", {"flows.0.workload": _ON_OFF}),
    Case(
        "mobility-default",
        "mobility/forward-60-4g",
        "auto",
        _MOBILITY,
        duration="6s",
        radio_log=True,
    ),
    Case(
        "mobility-thesis-establishment",
        "mobility/backward-120-low",
        "auto:policy=thesis-establishment,requirement=delay,hints=on",
        _MOBILITY,
    ),
    Case(
        "highway-thesis-inflight",
        "highway/drive",
        "auto:policy=thesis-inflight,requirement=goodput,hints=on",
        duration="6s",
    ),
    Case("sequence-rules", "speed/60-eva60", "auto:policy=rules", {"flows.0.workload": _SEQUENCE}),
    Case("vehicular-bpftune", "vehicular/scenario-1", "auto:policy=bpftune"),
    Case("load-starts-fixed", "static/load-starts", "auto:policy=fixed,cca=copa", duration="3s"),
    Case("nr-sub6-sprout", "nr/sub6-drive", "sprout", duration="2s", radio_log=True),
    Case(
        "nr-mmwave-nv",
        "nr/mmwave-static",
        "nv+highspeed",
        {"flows": '[{ name = "a" }, { name = "b", from = "phone", to = "server" }]'},
        duration="1s",
    ),
)

KERNEL = (
    Case("steady-cubic", "steady-20-68", "cubic"),
    Case("steady-switch", "steady-20-18", "reno", {"flows.0.switch": _SWITCH}),
    Case("sequence-hybla", "steady-5-68", "hybla", {"flows.0.workload": _SEQUENCE}, duration="8s"),
    Case(
        "on-off-two-flows",
        "fairness",
        "bbr+cubic",
        {"path.queue": "fq-codel", "flows.1.start": "1s", "flows.0.workload": _ON_OFF},
    ),
    Case("mobility-default", "mobility/forward-60-4g", "auto", _MOBILITY, duration="6s"),
    Case("drive-lossy-vegas", "drive", "vegas", {"path.loss": "0.005"}),
)
