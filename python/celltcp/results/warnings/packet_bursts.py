"""Warning about bursts of losses that last for packets, in which a waiting sender stays."""

from __future__ import annotations

import math
import shlex
from typing import TYPE_CHECKING, Any

from celltcp._core import in_unit
from celltcp.results.columns import rows_of
from celltcp.scenarios.cca_mix import labels
from celltcp.scenarios.packets import PACKET_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from celltcp.results.tables import Results

#: Kind of a loss model whose bursts last for packets.
PACKET_BURSTS = "gilbert-elliott"
#: Defaults of the losses in the good and in the bad state.
_DEFAULTS = {"loss_good": 0.0, "loss_bad": 1.0}
#: Minimum number of time-outs in one recovery that show such a burst.
_MIN_TIMEOUTS = 3
#: Share of the rate of the link below which a sender meets notably fewer bursts a second.
_MAX_SLOW_SHARE = 0.7


def packet_bursts(results: Results, scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning if senders met several time-outs in one burst, or send slowly.

    A sender that waits for time-outs sends few packets, so that the burst does not end. A slow sender
    meets fewer bursts a second than of those over time, which the warning has: they are as long and as
    frequent at the full rate of the link.
    """
    models = list(_models(scenario.get("path", {})))
    if not models or "recoveries" not in results.tables:
        return []
    return _stuck_senders(results, models[0]) or _slow_senders(results, models[0])


def _stuck_senders(results: Results, model: tuple[str, Mapping[str, Any], float]) -> list[str]:
    """Returns the warning about senders with several time-outs in one burst."""
    # Maximum number of time-outs in a recovery by run.
    timeouts: dict[int, int] = {}
    for run, count in rows_of(results.tables["recoveries"], "run", "timeouts"):
        timeouts[run] = max(count, timeouts.get(run, 0))
    lineups = results.lineups
    stuck = [run for run, count in timeouts.items() if count >= _MIN_TIMEOUTS and run in lineups]
    if not stuck:
        return []
    names = labels(lineups.values())
    ccas = ", ".join(dict.fromkeys(names[lineups[run]] for run in sorted(stuck)))
    tried = [run for run, lineup in lineups.items() if lineup in {lineups[run] for run in stuck}]
    return [
        f"{ccas}: in {len(stuck)} of {len(tried)} runs up to {max(timeouts[run] for run in stuck)} "
        f"time-outs in a row decide the result: bursts of {model[0]} last for packets, as "
        f"measured at a full rate, so that none ends while a sender waits{_over_time_text(*model)}"
    ]


def _slow_senders(results: Results, model: tuple[str, Mapping[str, Any], float]) -> list[str]:
    """Returns the warning about senders that the bursts keep far below the rate of the link."""
    field, _, packets_per_s = model
    over_time = _over_time_text(*model)
    shares: dict[str, list[float]] = {}
    columns = ("run", "ue", "segments", "duration_s")
    # Those of the uplink count ACKs, unless data are sent there.
    is_uplink = field.endswith("uplink_loss")
    for run, receiver, segments, duration_s in rows_of(results.tables["flows"], *columns):
        if run in results.lineups and duration_s > 0 and (receiver == "server") == is_uplink:
            shares.setdefault(results.lineups[run], []).append(segments / duration_s / packets_per_s)
    means = {lineup: sum(each) / len(each) for lineup, each in shares.items()}
    slow = [lineup for lineup, share in means.items() if share < _MAX_SLOW_SHARE]
    if not slow or not over_time:
        return []
    names = labels(results.lineups.values())
    ccas = ", ".join(names[lineup] for lineup in slow)
    share_text = f"{100 * min(means[lineup] for lineup in slow):.0f} %"
    more = " or more" if len(slow) > 1 else ""
    return [
        f"{ccas}: sent at {share_text} of the rate of the link{more}, and bursts of {field} count "
        f"packets, so that a slow sender meets fewer a second{over_time}"
    ]


def _models(path: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any], float]]:
    """Yields the loss models with bursts of packets: field, table, and the rate of the link, packets/s.

    The rate is NaN where it varies.
    """
    links = [("path", path, "loss", path.get("down")), ("path", path, "uplink_loss", path.get("up"))]
    links += [
        (f"path.wired.{index}", hop, name, hop)
        for index, hop in enumerate(path.get("wired", ()))
        for name in ("loss", "uplink_loss")
    ]
    for where, part, name, link in links:
        loss = part.get(name)
        if isinstance(loss, dict) and loss.get("kind") == PACKET_BURSTS:
            rate = link.get("rate") if isinstance(link, dict) else link
            bits_per_s = in_unit(rate, "bit/s") if isinstance(rate, str) else None
            yield f"{where}.{name}", loss, (bits_per_s or math.nan) / 8 / PACKET_BYTES


def _over_time_text(field: str, model: Mapping[str, Any], packets_per_s: float) -> str:
    """Returns the field with bursts over time; empty where the rate of packets is not known."""
    to_bad, to_good = float(model["to_bad"]), float(model["to_good"])
    if math.isnan(packets_per_s) or not to_bad > 0 or not to_good > 0:
        return ""
    good, bad = (f"{1e3 / (rate * packets_per_s):.3g}ms" for rate in (to_bad, to_good))
    changed = {name: value for name, value in _DEFAULTS.items() if model.get(name, value) != value}
    rest = "".join(f", {name}={model[name]}" for name in changed)
    table = f'{{kind="{PACKET_BURSTS}-time", good="{good}", bad="{bad}"{rest}}}'
    return (
        f"; fades last for a time: --set {shlex.quote(f'{field}={table}')} has those, and another "
        "answer, as any sender meets as many a second"
    )
