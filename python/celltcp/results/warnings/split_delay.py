"""Warning about split hosts on a long path that have the whole delay on one side."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from typing import Any

from celltcp._core import in_unit, middlebox_kinds
from celltcp.scenarios.cca_mix import parse_mix

#: Kinds of middleboxes that split connections.
_SPLIT_KINDS = frozenset(middlebox_kinds(splits=True))
#: Minimum RTT of a long path, ms.
_LONG_PATH_MS = 100.0


def one_sided_delay(about: Mapping[str, Any]) -> list[str]:
    """Returns a warning for each split host that divides no delay of a long path."""
    scenario = tomllib.loads(about["scenario"])
    path = scenario.get("path", {})
    rtt_ms = in_unit(path.get("rtt", "0ms"), "ms") or 0.0
    if "radio" in scenario or rtt_ms < _LONG_PATH_MS:
        return []
    delays = _delays(path.get("wired", ()), rtt_ms / 2)
    texts = []
    for kind, at in dict.fromkeys(_hosts(about, path)):
        hops = int(at.removeprefix("node-")) if at.startswith("node-") else len(delays)
        sides = {"server": sum(delays[:hops]), "phone": sum(delays[hops:])}
        if min(sides.values()) > 0:
            continue
        side = max(sides, key=sides.__getitem__)
        texts.append(
            f"{kind} at {at}: the whole RTT of {path['rtt']} lies between it and the {side}, so that "
            "it divides no delay. Divide path.wired, such as "
            "[{ name = 'internet', delay = '10ms' }, { name = 'satellite' }], and set at=node-1"
        )
    return texts


def _hosts(about: Mapping[str, Any], path: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """Yields kind and node of the split hosts under all congestion controls."""
    for cca in about["cca"]:
        chain = parse_mix(cca).middleboxes
        if not chain:
            named = (
                (each.get("kind", "split"), each.get("at")) for each in path.get("middleboxes", ())
            )
        else:
            named = (_hosts_of_middlebox(part) for part in chain.split("@"))
        yield from ((kind, at or "gateway") for kind, at in named if kind in _SPLIT_KINDS)


def _hosts_of_middlebox(text: str) -> tuple[str, str | None]:
    """Returns kind and node of a middlebox, such as `split:at=node-1`."""
    kind, _, settings = text.partition(":")
    given = dict(part.partition("=")[::2] for part in settings.split(","))
    return kind, given.get("at")


def _delays(hops: Iterable[Mapping[str, Any]], one_way_ms: float) -> list[float]:
    """Returns the delay of each hop; the first without one has what the others leave of the path."""
    given = [in_unit(hop["delay"], "ms") if "delay" in hop else None for hop in hops]
    rest = max(one_way_ms - sum(each or 0.0 for each in given), 0.0)
    delays = []
    for each in given:
        delays.append(rest if each is None else each)
        rest = 0.0 if each is None else rest
    return delays
