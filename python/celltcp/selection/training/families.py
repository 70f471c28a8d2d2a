"""Families of random networks on which policies are trained."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celltcp._core import CelltcpError, Scenario, in_unit
from celltcp.selection.training import link_families as links
from celltcp.selection.training import radio_families as cells
from celltcp.selection.training.distributions import log_uniform

#: Range of the bounds of `goodput@`, in RTTs of the path.
_BOUND_RTTS = (1.1, 6.0)
#: Range of the bounds of `delay@`, Mbit/s.
_FLOOR_MBPS = (0.1, 20.0)


@dataclass(frozen=True)
class Network:
    """Random network of a family, which becomes a scenario with flows and a duration."""

    family: str
    number: int
    seed: int
    #: Path or radio, and competing flows, as TOML.
    text: str

    @property
    def fair_share(self) -> float:
        """Fair share of the capacity, given the competing flows that are always active."""
        competing = tomllib.loads(self.text).get("flows", [])
        return 1.0 / (1 + sum(int(flow.get("count", 1)) for flow in competing if "start" not in flow))

    def requirement(self, kind: str) -> str:
        """Returns the requirement of a kind; `goodput@` and `delay@` get this network's bound."""
        rng = np.random.default_rng([self.seed, 2])
        rtts, floor_mbps = log_uniform(rng, *_BOUND_RTTS), log_uniform(rng, *_FLOOR_MBPS)
        if kind == "delay@":
            return f"delay@{floor_mbps:.3f}Mbps"
        if kind == "goodput@":
            rtt_s = in_unit(tomllib.loads(self.text)["path"]["rtt"], "s") or 0.0
            return f"goodput@{rtts * rtt_s * 1e3:.1f}ms"
        return kind

    def scenario(self, flows: str, duration_s: float) -> Scenario:
        """Returns a scenario with these flows (TOML) and the competing ones; the first is measured."""
        header = (
            f'name = "{self.family}-{self.number}"\nduration = "{duration_s:.1f}s"\n'
            '[variation]\nstart_jitter = "0s"\n'
        )
        path, *competing = self.text.split("[[flows]]")
        active = [f"[[flows]]{flow}" for flow in competing if _start_s(flow) < round(duration_s, 1)]
        text = header + path + (flows or "[[flows]]\n") + "".join(active)
        return Scenario.from_toml(text, f"{self.family}-{self.number}", "", [])


def _start_s(flow: str) -> float:
    """Returns the start time of a flow (TOML), s."""
    return in_unit(tomllib.loads(flow).get("start"), "s") or 0.0


#: Functions that draw the text of a network, by family. The seeds of networks depend on their order.
FAMILIES: dict[str, Callable[[np.random.Generator], str]] = {
    draw.__name__.replace("_", "-"): draw
    for draw in (
        *(cells.away, cells.closer, cells.standing, cells.loaded),
        *(links.wandering, links.stepping, links.lossy, links.shallow, links.plain, links.deep),
        *(links.dropping, links.managed, links.far, links.slow, links.fast, links.interrupted),
        *(links.beside, links.beside_deep, links.jittery, links.asymmetric, links.shared),
        *(links.blocked, links.beside_bbr, links.visited, links.uploading, links.combined),
    )
}


def draw_networks(families: Sequence[str], count: int, seed: int) -> Iterator[Network]:
    """Yields `count` networks of each family; the same seed gives the same networks.

    Raises:
        CelltcpError: if a family is unknown.
    """
    for name in families:
        if name not in FAMILIES:
            raise CelltcpError(f"scenarios: {name!r} is no family; allowed: {', '.join(FAMILIES)}")
        for index in range(count):
            rng = np.random.default_rng([seed, list(FAMILIES).index(name), index])
            yield Network(name, index, int(rng.integers(1 << 31)), FAMILIES[name](rng))
