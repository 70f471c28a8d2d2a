"""Split hosts: the leg behind one as a cause, and the buffer of the host as its remedy.

The evidence on a split connection is that of its first leg, whose receive window is the free space of
the buffer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from celltcp._core import in_unit
from celltcp.comparison.explanation.causes.cause import Cause, bdps_text, percent_text
from celltcp.comparison.explanation.evidence.evidence import MIN_LIMITED_SHARE, MIN_WINDOW_PER_RTT
from celltcp.comparison.explanation.evidence.ramps import link_share_text
from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.comparison.explanation.remedies.window_remedies import WINDOW_BDPS, rounded_size
from celltcp.scenarios.cca_mix import parse_mix
from celltcp.scenarios.quantity_texts import size_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.explanation.evidence.evidence import Evidence

#: Minimum share of unused capacity at which a later leg is a cause.
_MIN_UNUSED_SHARE = 0.1
#: Maximum wait of the first leg, as a share of all waits, where the later one has the queue.
_MAX_FIRST_WAIT_SHARE = 0.1
#: Default of `buffer`.
_BUFFER = "1MB"


class SplitHost(NamedTuple):
    """The only middlebox on the path of a split connection."""

    #: Its text after `@` in a CCA, such as `split:at=node-1`; empty for one of the scenario.
    spec: str
    #: Its buffer for each direction of a connection, as text.
    buffer: str

    @classmethod
    def of(cls, evidence: Evidence) -> SplitHost | None:
        """Returns the split host of a flow; None if it has none, or several middleboxes."""
        boxes = evidence.value_at("path.middleboxes") or []
        if spec := parse_mix(evidence.cca).middleboxes:
            boxes = [_settings_of(each) for each in spec.split("@")]
        if not evidence.is_split or len(boxes) != 1:
            return None
        return cls(spec, str(boxes[0].get("buffer", _BUFFER)))

    @property
    def buffer_bytes(self) -> float:
        """Its buffer, bytes."""
        return in_unit(self.buffer, "B") or 0.0

    def change_buffer(self, size: str) -> Remedy:
        """Returns the remedy that gives the buffer another size."""
        against = "a buffer of the split host below its legs' need"
        if not self.spec:
            return Remedy(against, (f"path.middleboxes.0.buffer={size}",))
        name, _, settings = self.spec.partition(":")
        others = [each for each in settings.split(",") if each and not each.startswith("buffer=")]
        return Remedy(against, middlebox=f"{name}:{','.join([*others, f'buffer={size}'])}")


def _settings_of(spec: str) -> dict[str, str]:
    """Returns the settings of a middlebox in the text of a CCA."""
    return dict(
        setting.split("=", 1) for setting in spec.partition(":")[2].split(",") if "=" in setting
    )


def _far_rtt_ms(evidence: Evidence) -> float:
    """Returns the RTT behind the split host, ms: that of the path less that of the first leg."""
    return max(evidence.base_rtt_ms - evidence.min_rtt_ms, 0.0)


def _far_bdp(evidence: Evidence) -> float:
    """Returns the bandwidth-delay product of the leg behind the split host, bytes."""
    return evidence.bdp * _far_rtt_ms(evidence) / evidence.min_rtt_ms


def queue_behind_split(evidence: Evidence) -> str:
    """Returns that the queue is behind the split host, which takes none of it away; empty elsewhere.

    The leg of the sender has hardly a wait then.
    """
    first_ms = evidence.mean("rtt_mean_ms") - evidence.min_rtt_ms
    if not first_ms < _MAX_FIRST_WAIT_SHARE * evidence.queue_wait_ms:
        return ""
    return f", behind which the link has its queue as without a split ({first_ms:.1f} ms before it)"


def later_leg(evidence: Evidence) -> Cause | None:
    """The leg behind a split host was the limit, so that the buffer of the host was full.

    The receive window of the sender is then full for at least {MIN_LIMITED_SHARE:.0%} of the time, but
    the buffer is large enough for the capacity, of which at least {_MIN_UNUSED_SHARE:.0%} is unused. Or
    the later leg has the larger RTT, and the window allows a third more than the goodput.
    """
    full_share = evidence.time_share("receive_window")
    if not evidence.is_split or full_share < MIN_LIMITED_SHARE:
        return None
    host, window = SplitHost.of(evidence), evidence.max_window("receive_window")
    per_rtt = evidence.goodput_mbps * 1e6 / 8 * evidence.min_rtt_ms / 1e3
    size = window if host is None else host.buffer_bytes
    is_first_leg_full = per_rtt >= MIN_WINDOW_PER_RTT * window or _far_bdp(evidence) <= evidence.bdp
    if (size < evidence.bdp and is_first_leg_full) or evidence.unused_share < _MIN_UNUSED_SHARE:
        return None
    buffer_text = ""
    if host is not None and host.buffer_bytes < WINDOW_BDPS * _far_bdp(evidence):
        buffer_text = (
            f"; its buffer of {host.buffer} is {bdps_text(host.buffer_bytes / _far_bdp(evidence))} "
            f"of that leg ({size_text(_far_bdp(evidence))} at an RTT of "
            f"{_far_rtt_ms(evidence):.0f} ms)"
        )
    return Cause(
        "later_leg",
        "The leg behind the split host was the limit: it kept the buffer of the host, and so the "
        f"receive window of the sender, full for {percent_text(full_share)} of the time, and "
        f"{link_share_text(evidence, evidence.unused_share)} of the capacity stayed "
        f"unused{buffer_text}.",
        evidence.unused_share,
    )


def split_buffer(evidence: Evidence, _cause: Cause) -> Iterator[Remedy]:
    """A buffer of the split host of two BDPs of its longer leg; no other window of the hosts helps."""
    host = SplitHost.of(evidence)
    needed = WINDOW_BDPS * max(evidence.bdp, _far_bdp(evidence))
    if host is not None and host.buffer_bytes < needed:
        yield host.change_buffer(rounded_size(needed))
