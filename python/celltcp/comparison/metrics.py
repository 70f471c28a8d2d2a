"""Metrics that are compared, and those of applications, such as the score of a video."""

from __future__ import annotations

from typing import NamedTuple

#: Metrics in the order of the table, with their meanings.
METRICS = {
    "goodput_mbps": "Goodput, Mbit/s.",
    "rtt_mean_ms": "Mean RTT, ms.",
    "rtt_p95_ms": "95th percentile of the RTT, ms.",
    "rtt_min_ms": "Lowest RTT, ms.",
    "induced_delay_ms": "Mean RTT less the lowest one of the path, ms.",
    "retransmissions": "Segments sent again.",
    "pm_balanced": "Performance metric of even weights.",
    "pm_delay": "Performance metric that weighs delay.",
}


class AppMetric(NamedTuple):
    """Figure of an application."""

    #: Heading of its column; the terminal breaks it at line ends.
    heading: str
    digits: int
    meaning: str


#: Figures of a video.
VIDEO = {
    "qoe": AppMetric("QoE\nMOS", 3, "Mean opinion score, 1 to 5."),
    "startup_s": AppMetric("start-up\ns", 2, "Time to the first picture, s."),
    "stalls": AppMetric("stalls", 2, "Number of stalls."),
    "stalled_s": AppMetric("stalled\ns", 2, "Time in which the picture stood, s."),
    "bitrate_mbps": AppMetric(
        "bitrate\nMbit/s", 2, "Mean rate of the representations that were played, Mbit/s."
    ),
    "switches": AppMetric("switches", 1, "Number of changes of the representation."),
}

#: The applications, and the figures that are given for them together, by the kinds of their events.
APPLICATIONS: tuple[dict[str, AppMetric], ...] = (
    VIDEO,
    {"response_s": AppMetric("response\ns", 3, "Mean time from a request to its response, s.")},
    {"page_load_s": AppMetric("page load\ns", 3, "Mean time to load a page, s.")},
    {
        "frames": AppMetric("frames", 0, "Number of frames."),
        "late_share": AppMetric("share of\nlate frames", 4, "Share of frames that came too late."),
        "frame_delay_ms": AppMetric("delay of\nframes ms", 1, "Mean delay of frames, ms."),
        "frame_delay_max_ms": AppMetric("highest\ndelay ms", 1, "Highest delay of a frame, ms."),
    },
)

#: All figures, by the kinds of their events.
APP_METRICS: dict[str, AppMetric] = {
    kind: figure for application in APPLICATIONS for kind, figure in application.items()
}
