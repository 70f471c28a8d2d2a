"""Warning about bursts of losses that last for packets, in which a waiting sender stays."""

from __future__ import annotations

import math
import shlex
from collections import Counter
from typing import TYPE_CHECKING, Any

from celltcp.results.columns import rows_of
from celltcp.scenarios.cca_mix import count_text, labels
from celltcp.scenarios.narrow_hop import steady_rate
from celltcp.scenarios.packets import PACKET_BYTES
from celltcp.scenarios.sides import SERVER

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
#: Share of the rate of the link below which senders have no figures of their own.
_MIN_PRINTED_SHARE = 0.01


def packet_bursts(results: Results, scenario: Mapping[str, Any]) -> list[str]:
    """Returns a warning about bursts that last for packets, if senders can meet it.

    A sender that waits for time-outs sends few packets, so that the burst does not end, under any
    congestion control: more runs show it where a few do not. A slow sender meets fewer bursts a second
    than of those over time, which the warning has: they are as long and as frequent at the full rate of
    the link.
    """
    models = list(_models(scenario.get("path", {})))
    if not models or "recoveries" not in results.tables:
        return []
    field, model, packets_per_s = models[0]
    stuck, slow = _stuck_text(results), _slow_text(results, field, packets_per_s)
    to_good = float(model["to_good"])
    if not stuck and not slow and to_good * _MIN_TIMEOUTS > 1:
        return []
    not_yet = f"none did in {count_text(len(results.lineups), 'run')}; more may show one"
    length = f"{1 / to_good:.3g} packets on average" if to_good > 0 else "packets"
    over_time = over_time_change(scenario)
    if over_time:
        over_time = f"; --set {shlex.quote(over_time)} has bursts that last for a time, as fades do"
    return [
        f"bursts of {field} last for {length}, however long these take: under any congestion control "
        f"none ends while a sender waits for time-outs ({stuck or not_yet}){slow}{over_time}"
    ]


def over_time_change(scenario: Mapping[str, Any]) -> str:
    """Returns a field of a scenario with bursts over time in place of those that last for packets.

    It is `path.loss={...}` with the bursts as long and as frequent at the full rate of the link; empty
    without bursts of packets, or where the rate of packets is not known.
    """
    for field, model, packets_per_s in _models(scenario.get("path", {})):
        return _over_time(field, model, packets_per_s)
    return ""


def _stuck_text(results: Results) -> str:
    """Returns by CCA in how many runs several time-outs in a row met one burst; empty without any."""
    # Maximum number of time-outs in a recovery by run.
    timeouts: dict[int, int] = {}
    for run, count in rows_of(results.tables["recoveries"], "run", "timeouts"):
        timeouts[run] = max(count, timeouts.get(run, 0))
    lineups, names = results.lineups, labels(results.lineups.values())
    stuck = [
        lineups[run] for run, count in timeouts.items() if count >= _MIN_TIMEOUTS and run in lineups
    ]
    if not stuck:
        return ""
    counts = [
        f"{names[lineup]} in {stuck.count(lineup)} of {runs}"
        for lineup, runs in Counter(lineups.values()).items()
        if lineup in stuck
    ]
    return f"up to {max(timeouts.values())} in a row: {', '.join(counts)} runs"


def _slow_text(results: Results, field: str, packets_per_s: float) -> str:
    """Returns a clause on CCAs that send far below the rate of the link, with their shares."""
    shares: dict[str, list[float]] = {}
    columns = ("run", "ue", "segments", "duration_s")
    # Those of the uplink count ACKs, unless data are sent there.
    is_uplink = field.endswith("uplink_loss")
    for run, receiver, segments, duration_s in rows_of(results.tables["flows"], *columns):
        if run in results.lineups and duration_s > 0 and (receiver == SERVER) == is_uplink:
            shares.setdefault(results.lineups[run], []).append(segments / duration_s / packets_per_s)
    means = {lineup: sum(each) / len(each) for lineup, each in shares.items()}
    names = labels(results.lineups.values())
    slow = [
        f"{names[each]} sent at {100 * mean:.0f} %"
        for each, mean in means.items()
        if mean < _MAX_SLOW_SHARE
    ]
    text = f"{', '.join(slow)} of its rate"
    if len(slow) > 1 and max(means.values()) < _MIN_PRINTED_SHARE:
        text = f"all sent below {100 * _MIN_PRINTED_SHARE:.0f} % of its rate"
    clause = f", and a sender below the rate of the link meets fewer a second ({text})"
    return clause if slow else ""


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
            yield f"{where}.{name}", loss, (steady_rate(link) or math.nan) / 8 / PACKET_BYTES


def _over_time(field: str, model: Mapping[str, Any], packets_per_s: float) -> str:
    """Returns the field with bursts over time; empty where the rate of packets is not known."""
    to_bad, to_good = float(model["to_bad"]), float(model["to_good"])
    if math.isnan(packets_per_s) or not to_bad > 0 or not to_good > 0:
        return ""
    good, bad = (f"{1e3 / (rate * packets_per_s):.3g}ms" for rate in (to_bad, to_good))
    changed = {name: value for name, value in _DEFAULTS.items() if model.get(name, value) != value}
    rest = "".join(f", {name}={model[name]}" for name in changed)
    return f'{field}={{kind="{PACKET_BURSTS}-time", good="{good}", bad="{bad}"{rest}}}'
