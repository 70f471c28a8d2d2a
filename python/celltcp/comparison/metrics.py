"""Metrics of flows and of applications, and the best CCA by one of them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from celltcp.comparison.verdicts.min_differences import min_difference
from celltcp.present.section import estimate_text, value_text
from celltcp.results.statistics import Estimate, Verdict, estimate, paired_gap, verdict, within
from celltcp.scenarios.cca_mix import ranked_mixes
from celltcp.scenarios.quantity_texts import three_digits

GOODPUT, MEAN_RTT, ONE_WAY_DELAY = "goodput_mbps", "rtt_mean_ms", "owd_p95_ms"
BALANCED = "pm_balanced"

#: Goodput as a share of the capacity that other flows leave; CCAs do not rank by it.
USED_CAPACITY = "capacity_share"
#: Goodput of all flows on the link of the flow under test as a share of its capacity.
UTILISATION = "utilisation"

#: Jain's index of all flows of a run, and the goodput of a flow while all run.
JAIN, SHARE = "fairness", "share_mbps"

#: Network metrics in the order of the table, with their meanings.
METRICS = {
    "goodput_mbps": "Goodput, Mbit/s.",
    "rtt_mean_ms": "Mean RTT, ms.",
    "rtt_p95_ms": "95th percentile of the RTT, ms; of connections the mean by segments.",
    "rtt_max_ms": "Highest RTT of a run, ms.",
    "rtt_min_ms": "Lowest RTT, ms.",
    "induced_delay_ms": "Mean RTT less the lowest one of all connections of the flow, ms.",
    "owd_p95_ms": "95th percentile of the one-way delay, ms; of connections the mean by segments.",
    "retransmissions": "Segments sent again.",
    "pm_balanced": "Performance metric of even weights.",
    "pm_delay": "Performance metric that weighs delay.",
}

#: Metrics of congestion windows, which tables have on request; CCAs do not rank by them.
CWND_MEAN, CWND_MAX = "cwnd_mean_segments", "cwnd_max_segments"
WINDOWS = {
    CWND_MEAN: "Mean congestion window of a connection at the ends of slots, segments.",
    CWND_MAX: "Largest congestion window of a run at the ends of slots and of slow start, segments; at "
    "each ACK with samples.",
}


#: Digits after the point of times in s that may be short, and the time below which they are in ms, s.
TIME_DIGITS, MAX_SHORT_S = 3, 0.1
#: Rates below which texts have kbit/s, Mbit/s, and delays from which on they have s, ms.
_MIN_MBPS, _MIN_LONG_MS = 0.1, 1e4
#: Time from which a decimal of a second has a digit, ms.
_MIN_WHOLE_MS = 1000.0


def short_digits(smallest_s: float) -> int:
    """Returns the decimals of short times in ms: three significant ones of the smallest, in s."""
    return min(max(2 - math.floor(math.log10(1e3 * smallest_s)), 1), 3)


class MetricText(NamedTuple):
    """Name of a metric for a line of text, its unit (may be empty), and its decimals."""

    name: str
    unit: str
    digits: int
    #: Factor from values to `unit`.
    factor: float = 1.0
    #: Whether numbers have three significant digits.
    is_short: bool = False
    #: Lowest and highest value that the metric can have, before the factor.
    limits: tuple[float, float] = (-math.inf, math.inf)

    def suited(self, *values: float) -> MetricText:
        """Returns the text with a unit that suits all values.

        That is kbit/s for low rates, s for long delays, and ms for times in s of which one is short.
        """
        sizes = [abs(value) for value in values if not math.isnan(value)]
        largest = max((size for size in sizes if math.isfinite(size)), default=0.0)
        smallest = min((size for size in sizes if size > 0), default=math.inf)
        is_time = self.unit == "s" and self.digits == TIME_DIGITS
        if is_time and smallest < MAX_SHORT_S and max(sizes) < 1:
            digits = short_digits(smallest)
            return self._replace(unit="ms", digits=digits, factor=1e3, is_short=True)
        if self.unit == "Mbit/s" and 0 < largest < _MIN_MBPS:
            return self._replace(unit="kbit/s", factor=1e3)
        if self.unit == "ms" and largest >= _MIN_LONG_MS:
            # Of short times beside long ones, a decimal of a second would show hardly a digit.
            return self._replace(unit="s", factor=1e-3, is_short=smallest < _MIN_WHOLE_MS)
        return self

    def with_unit(self, number: str) -> str:
        """Returns a number followed by the unit."""
        return f"{number} {self.unit}".rstrip()

    def number(self, value: float) -> str:
        """Returns a value with its digits; `no value` for NaN."""
        if self.is_short and math.isfinite(value):
            return three_digits(self.factor * value)
        return "no value" if math.isnan(value) else value_text(self.factor * value, self.digits)

    def mean_number(self, values: Iterable[float], *, is_bound: bool = False) -> str:
        """Returns the mean of values, or of lower bounds, with its 95 % interval, in this unit."""
        mean = estimate([self.factor * value for value in values])
        return estimate_text(_limited(mean, self.limits, self.factor, is_bound), self.digits)

    def value_text(self, value: float) -> str:
        """Returns a value with its digits and a unit that suits it; `no value` for NaN."""
        return self.suited(value).own_text(value)

    def own_text(self, value: float) -> str:
        """Returns a value with its digits and this unit; `no value` for NaN."""
        number = self.number(value)
        return number if math.isnan(value) else self.with_unit(number)

    def in_line(self, *values: float) -> str:
        """Returns values with a unit that suits all, as `0.198 to 0.031 s`."""
        words = self.suited(*values)
        return words.with_unit(" to ".join(map(words.number, values)))


_NETWORK_TEXTS = {
    "goodput_mbps": MetricText("goodput", "Mbit/s", 2),
    "rtt_mean_ms": MetricText("mean RTT", "ms", 1),
    "rtt_p95_ms": MetricText("p95 RTT", "ms", 1),
    "rtt_max_ms": MetricText("highest RTT", "ms", 1),
    "rtt_min_ms": MetricText("lowest RTT", "ms", 1),
    "induced_delay_ms": MetricText("induced delay", "ms", 1),
    "owd_p95_ms": MetricText("p95 one-way delay", "ms", 1),
    "retransmissions": MetricText("retransmissions", "", 1),
    "pm_balanced": MetricText("PM balanced", "", 3),
    "pm_delay": MetricText("PM delay", "", 3),
    CWND_MEAN: MetricText("mean cwnd", "segments", 1),
    CWND_MAX: MetricText("largest cwnd", "segments", 1),
    USED_CAPACITY: MetricText("used share of the capacity that others left", "", 3),
    UTILISATION: MetricText("utilisation of the link", "%", 1, 100.0, limits=(0.0, 1.0)),
    JAIN: MetricText("Jain's index", "", 3),
    SHARE: MetricText("share", "Mbit/s", 2),
}

#: Metrics that only make sense for a flow that competes for the path.
COMPETITION_METRICS = ("goodput_mbps", "pm_balanced", "pm_delay")


class AppMetric(NamedTuple):
    """Metric of an application."""

    #: Heading of the column; a terminal breaks it at line ends.
    heading: str
    digits: int
    meaning: str
    #: Kind of the events with the values; by default the name of the metric.
    kind: str | None = None
    #: Percentile of the values of a run (nearest rank, 100 is the highest); None for their mean.
    percentile: float | None = None
    #: 1 if a higher value is better, -1 if a lower value is better, 0 if neither is.
    sign: int = -1
    #: Whether only some applications of the kind have the metric.
    is_occasional: bool = False
    #: Whether the metric is the number of values.
    is_count: bool = False
    #: Whether it is the standard deviation of the values of a run.
    is_spread: bool = False

    @property
    def name(self) -> str:
        """Heading in a line, without the unit."""
        return " ".join(self.heading.split()).removesuffix(f" {self.unit}")

    @property
    def unit(self) -> str:
        """Unit at the end of the heading; empty without one."""
        last = self.heading.split()[-1]
        return last if last in _UNITS else ""

    def text(self, value: float, *others: float, mark: str = "") -> str:
        """Returns a value with its name and unit in a line, as `response p95 0.198 s`; a share in %.

        The unit suits `others`, too, which stand in the same lines. `mark` stands before the value.
        """
        if "share" in self.heading and math.isfinite(value):
            return f"{self.name} {100 * value:.3g} %"
        words = MetricText(self.name, self.unit, self.digits).suited(value, *others)
        return f"{self.name} {mark}{words.own_text(value)}"


#: Units that headings end with.
_UNITS = ("s", "ms", "Mbit/s", "MOS")


#: Percentiles in tables: value, text of the heading, and start of the meaning.
_PERCENTILES = (
    (50, "p50", "Median"),
    (95, "p95", "95th percentile of the"),
    (99, "p99", "99th percentile of the"),
    (99.9, "p99.9", "99.9th percentile of the"),
)

#: Highest percentile, which needs many values.
MAX_PERCENTILE = _PERCENTILES[-1][0]


def _key(percentile: str) -> str:
    """Returns the part of a metric's name for a percentile: `p999` for `p99.9`."""
    return percentile.replace(".", "")


def _spread(heading: str, digits: int, noun: str, kind: str | None = None) -> AppMetric:
    """Returns the standard deviation of a time within a run."""
    meaning = f"Standard deviation of the {noun}; null with fewer than two."
    return AppMetric(heading, digits, meaning, kind, is_spread=True)


#: Kinds of events: the delay of a frame, ms, the number of frames of a connection, and the age at the
#: end of the run of a frame that had not arrived by its deadline, ms.
FRAME, FRAMES, FRAME_AGE = "frame_ms", "frames", "frame_age_ms"
#: Kind of the events with the age of an incomplete unit at the end of the run, by the kind of events
#: with the duration of a complete unit. Responses and pages have one only if older than each complete
#: one, frames if older than their deadline.
AGES = {"response_s": "response_age_s", "page_load_s": "page_load_age_s", FRAME: FRAME_AGE}
#: Events of responses, those of responses and requests without one, and the name for whether each of
#: these came after its deadline.
RESPONSE, LATE_RESPONSE = "response_s", "late_response"
RESPONSE_TIMES = (RESPONSE, AGES[RESPONSE])
#: Share of responses after their deadline.
LATE_RESPONSES = "response_late_share"


def _units(kind: str, unit: str, noun: str, first_byte: str, incomplete: str) -> dict[str, AppMetric]:
    """Returns the metrics of units of work whose durations are in events of one kind.

    Args:
        kind: kind of these events.
        unit: name of a unit.
        noun: text that names the duration of a unit.
        first_byte: kind of the events with the time to the first byte of a unit.
        incomplete: text that names incomplete units.
    """
    stem = kind.removesuffix("_s")
    count = f"{unit}s".replace(" ", "\n")
    return {
        f"{stem}s": AppMetric(count, 0, f"Number of {unit}s.", kind, sign=0, is_count=True),
        first_byte: AppMetric(
            *("first byte\nmean s", 3, f"Mean time to the first byte of a {unit}, s.", first_byte),
            is_occasional=True,
        ),
        kind: AppMetric(f"{unit}\nmean s", 3, f"Mean {noun}, s; of {incomplete}, their age."),
        **{
            f"{stem}_{_key(short)}_s": AppMetric(
                f"{unit}\n{short} s", 3, f"{long} {noun}, s.", kind, percentile
            )
            for percentile, short, long in _PERCENTILES
        },
        f"{stem}_max_s": AppMetric(f"{unit}\nmax s", 3, f"In a run, the longest {noun}, s.", kind, 100),
        f"{stem}_sd_s": _spread(f"{unit}\nsd s", 3, f"{noun}, s", kind),
        f"{stem}s_missing": AppMetric(
            f"without\n{unit} a run",
            *(1, f"Number of {incomplete}, older at the end than any {unit} took.", AGES[kind]),
            is_occasional=True,
            is_count=True,
        ),
    }


#: Metrics of a video.
VIDEO = {
    "qoe": AppMetric(
        "QoE\nMOS",
        3,
        "Mean opinion score, 1 to 5: O.46 of ITU-T P.1203.3 without its random forest, by P.1203.1 "
        "(mode 0) and P.1203.2; 1 if less than a second was played.",
        sign=1,
    ),
    "linear_qoe": AppMetric(
        "linear\nQoE",
        1,
        "Linear QoE of MPC and Pensieve, Mbit/s: the sum of the rates of segments, less their changes, "
        "less the highest rate for each second of start-up and stalls.",
        sign=1,
    ),
    "startup_s": AppMetric(
        "start-up\ns", 2, "Time from opening the connection to the first picture, s."
    ),
    "stalls": AppMetric("stalls", 2, "Number of interruptions by an empty buffer."),
    "stalled_s": AppMetric("stalled\ns", 2, "Time of stalls, without the start-up, s."),
    "bitrate_mbps": AppMetric(
        "bitrate\nMbit/s", 2, "Mean rate of the representations that were played, Mbit/s.", sign=1
    ),
    "switches": AppMetric("switches", 1, "Number of changes of the representation."),
}

#: Completion time of the last of the transfers of a run.
LAST_COMPLETION = "completion_max_s"
#: Mean time of transfers, which last until the end of the run where it cut them.
LEAST_COMPLETION = "completion_least_s"
#: Share of complete transfers, by which they rank where a run cut some off.
COMPLETED_SHARE = "completed_share"

#: Share of the frames that had not arrived at the end.
MISSING_FRAMES = "missing_share"
#: Share of frames after their deadline.
LATE_FRAMES = "late_share"

#: Metrics of transfers that have an end.
TRANSFERS = {
    "transfers": AppMetric("transfers", 0, "Number of transfers.", sign=0),
    "first_byte_s": AppMetric(
        *("first byte\nmean s", 3, "Mean time from the request of a transfer to its first byte, s."),
        is_occasional=True,
    ),
    "completion_s": AppMetric(
        *("completion\nmean s", 3),
        "Mean time to complete of the transfers that were complete, s: until the receiver has the last "
        "byte, which the sender knows with its ACK.",
    ),
    **{
        f"completion_{_key(short)}_s": AppMetric(
            *(f"completion\n{short} s", 3),
            f"{long} time to complete of several transfers, s. Those on their way at the end count if "
            "they took longer than all others.",
            percentile=percentile,
            is_occasional=True,
        )
        for percentile, short, long in _PERCENTILES
    },
    LAST_COMPLETION: AppMetric(
        "completion\nmax s", 3, "In a run, the longest of the times of the percentiles, s."
    ),
    "completion_sd_s": _spread("completion\nsd s", 3, "completion times, s"),
    LEAST_COMPLETION: AppMetric(
        "completion\nat least s",
        *(3, "Mean time to complete of all transfers, s; cut ones lasted until the end of the run."),
        is_occasional=True,
    ),
    "completed_share": AppMetric(
        "share\ncomplete", 3, "Share of the transfers that were complete.", sign=1
    ),
}

_RESPONSES = _units(
    "response_s",
    "response",
    "time from a request to the last byte of its response",
    "response_first_byte_s",
    "requests without their whole response",
)
_RESPONSES[LATE_RESPONSES] = AppMetric(
    *(
        "share of\nlate responses",
        5,
        "Share of responses that came after their deadline or not at all.",
    ),
    LATE_RESPONSE,
    is_occasional=True,
)
_PAGES = _units(
    "page_load_s",
    "page load",
    "time from the first connection of a page to its last byte",
    "page_first_byte_s",
    "pages that were not complete",
) | {
    "page_bytes": AppMetric(
        *("page\nmean bytes", 0, "Mean payload of the pages that were loaded, bytes."),
        sign=0,
        is_occasional=True,
    )
}
_FRAMES = {
    FRAMES: AppMetric("frames", 0, "Number of frames.", sign=0),
    "late_share": AppMetric(
        "share of\nlate frames", 4, "Share of frames that came too late or not at all."
    ),
    MISSING_FRAMES: AppMetric(
        "share not\narrived",
        4,
        "Share of frames that had not arrived at the end of the run, after their deadline.",
        FRAME_AGE,
        is_occasional=True,
    ),
    "dropped_share": AppMetric(
        "share\ndropped", 4, "Share of frames that the sender dropped.", is_occasional=True
    ),
    "frame_size_share": AppMetric(
        *("encoded\nframe size", 3, "Mean size of frames, as a share of their whole size."),
        sign=1,
        is_occasional=True,
    ),
    **{
        f"frame_delay{statistic}_ms": AppMetric(
            f"frame delay\n{short} ms",
            1,
            f"{long} delay of the frames that were sent, ms; of those that had not arrived, their age.",
            FRAME,
            percentile,
        )
        for statistic, short, long, percentile in (
            ("", "mean", "Mean", None),
            *((f"_{_key(short)}", short, long, percentile) for percentile, short, long in _PERCENTILES),
            ("_max", "max", "In a run, the highest", 100),
        )
    },
    "frame_delay_sd_ms": _spread(
        "frame delay\nsd ms", 1, "delays of the frames that were sent, ms", FRAME
    ),
}

#: Metrics of each application.
APPLICATIONS: tuple[dict[str, AppMetric], ...] = (VIDEO, _RESPONSES, _PAGES, _FRAMES, TRANSFERS)

#: Metrics by the kind of the workload that has them.
_BY_KIND = {
    "video": VIDEO,
    "request-response": _RESPONSES,
    "page": _PAGES,
    "frames": _FRAMES,
    "sequence": TRANSFERS,
}
#: Setting of a workload that a metric depends on, and the value without the metric.
_REQUIRED_SETTINGS = {
    "dropped_share": ("backlog", "all"),
    "frame_size_share": ("encoder", None),
    LATE_RESPONSES: ("deadline", None),
}


def workload_metrics(workload: Mapping[str, Any]) -> dict[str, AppMetric]:
    """Returns the metrics that a workload of a scenario can have."""
    kind = workload.get("kind", "bulk")
    metrics = TRANSFERS if kind == "bulk" and "bytes" in workload else _BY_KIND.get(kind, {})
    lacking = {
        name
        for name, (setting, missing) in _REQUIRED_SETTINGS.items()
        if workload.get(setting, missing) == missing
    }
    return {name: metric for name, metric in metrics.items() if name not in lacking}


#: All metrics.
APP_METRICS: dict[str, AppMetric] = {
    name: metric for application in APPLICATIONS for name, metric in application.items()
}

#: Network metrics whose higher values are better; of the others, lower values are.
_HIGHER_IS_BETTER = {"goodput_mbps", "pm_balanced", "pm_delay"}

#: Metrics by which congestion controls can rank.
RANKED = (*METRICS, JAIN, SHARE, *(name for name, metric in APP_METRICS.items() if metric.sign))


def sign_of(metric: str) -> int:
    """Returns 1 if more of a metric is better, as for metrics of requirements, or -1 if less is."""
    if metric in METRICS:
        return 1 if metric in _HIGHER_IS_BETTER else -1
    return APP_METRICS[metric].sign if metric in APP_METRICS else 1


#: Factor from shares to per cent.
PERCENT = 100.0

#: Metrics that can be below zero.
_SIGNED_METRICS = {"linear_qoe"}


def range_of(metric: str) -> tuple[float, float]:
    """Returns the lowest and the highest value that a metric can have."""
    if metric == "qoe":
        return 1.0, 5.0
    if metric in _SIGNED_METRICS:
        return -math.inf, math.inf
    is_share = metric.endswith("_share") or metric.startswith("pm_") or metric == JAIN
    return 0.0, 1.0 if is_share else math.inf


def _limited(mean: Estimate, limits: tuple[float, float], factor: float, is_bound: bool) -> Estimate:
    """Returns an estimate with an interval that stays within limits, or with none for a lower bound."""
    if is_bound:
        return Estimate(mean.mean, None, is_bound=True)
    limited = within(mean.scaled(1 / factor), *limits)
    return mean if limited.ends is None else limited.scaled(factor)


def estimate_of(
    metric: str, values: Iterable[float], factor: float = 1.0, *, is_bound: bool = False
) -> Estimate:
    """Returns the mean of a metric with a 95 % interval that stays within the range of the metric.

    With few runs, the symmetric interval may include shares above one, and times below zero.

    Args:
        metric: name of the metric, whose range decides.
        values: values of the runs, in the unit of the metric times `factor`.
        factor: factor from the unit of the metric.
        is_bound: whether they are lower bounds, of which the mean has no interval. A deviation of those
            is not known.
    """
    if is_bound and metric in APP_METRICS and APP_METRICS[metric].is_spread:
        values = ()
    return _limited(estimate([*map(float, values)]), range_of(metric), factor, is_bound)


def mean_texts(metric: str, *means: float) -> list[str]:
    """Returns means of a metric as texts in one unit; shares in per cent have three digits."""
    if metric.endswith("_share"):
        return [f"{PERCENT * mean:.3g} %" for mean in means]
    words = words_of(metric).suited(*means)
    return [words.own_text(mean) for mean in means]


def metric_text(metric: str, values: Iterable[float], digits: int) -> str:
    """Returns the mean of a metric with its 95 % interval as text."""
    return estimate_text(estimate_of(metric, values), digits)


def interval_ends(metric: str, estimate: Estimate, factor: float = 1.0) -> tuple[float, float]:
    """Returns the ends of the 95 % interval of a mean within the range of the metric, for plots.

    Args:
        metric: name of the metric, whose range decides.
        estimate: mean and interval, in the unit of the metric times `factor`.
        factor: factor from the unit of the metric.
    """
    half = estimate.ci95 or 0.0
    limited = _limited(estimate, range_of(metric), factor, is_bound=False)
    return limited.ends or (estimate.mean - half, estimate.mean + half)


def is_percentage(metric: str) -> bool:
    """Returns whether tables and texts have a metric of an application in per cent: a share."""
    return metric in APP_METRICS and metric.endswith("_share")


def words_of(metric: str) -> MetricText:
    """Returns name, unit and decimals of a metric for a line of text."""
    if metric in APP_METRICS:
        app_metric = APP_METRICS[metric]
        # Texts mark lower bounds themselves: of complete transfers it is their mean.
        name = "completion mean" if metric == LEAST_COMPLETION else app_metric.name
        words = MetricText(name, app_metric.unit, app_metric.digits)
        if is_percentage(metric):
            words = MetricText(name, "%", app_metric.digits - 2, PERCENT)
    else:
        # Performance metrics of other weights have the digits of the named ones.
        words = _NETWORK_TEXTS.get(metric, MetricText("PM", "", 3))
    return words._replace(limits=range_of(metric))


def best_by_metric(metric: str, values: Mapping[str, Sequence[float]], *, random: bool) -> Verdict:
    """Returns the best congestion control as `best_of` does; mixes of several flows are left out."""
    return best_of(metric, {cca: values[cca] for cca in ranked_mixes(values)}, random=random)


def best_of(metric: str, values: Mapping[str, Sequence[float]], *, random: bool) -> Verdict:
    """Returns the best name by a metric.

    Args:
        metric: one of `RANKED`.
        values: by name; paired by position (the same seed, the same channel).
        random: whether draws affect the results, so that a single run is not conclusive.
    """
    sign = sign_of(metric)
    signed = {name: [sign * value for value in series] for name, series in values.items()}
    if sign < 0 and signed and not any(map(any, signed.values())):
        # All values are zero, such as without losses: ties.
        leader, *others = signed
        if random and len(signed[leader]) < 2:
            return Verdict(leader, (), tuple(others))
        return Verdict(leader, tuple(others), are_all_tied=bool(others))
    return verdict(
        signed,
        random=random,
        min_difference=min_difference(metric),
        are_shares=is_percentage(metric),
    )


def metric_gap(metric: str, first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Returns the mean of `first - second` of a metric with the interval that its verdicts have."""
    return paired_gap(first, second, are_shares=is_percentage(metric))
