"""Families of random networks to train on."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from celltcp._core import CelltcpError, Scenario, in_unit
from celltcp.selection.training import link_families as links
from celltcp.selection.training import radio_families as cells
from celltcp.selection.training.distributions import log_uniform

#: Range of the bounds of `goodput@`, in RTTs of the path, and of the rates of `delay@`, Mbit/s.
_BOUND_RTTS = (1.1, 6.0)
_FLOOR_MBPS = (0.1, 20.0)


@dataclass(frozen=True)
class Network:
    """A network of a family, as a scenario of the wanted length."""

    family: str
    number: int
    seed: int
    text: str

    @property
    def fair_share(self) -> float:
        """Fair share of the capacity beside the flows that are always active."""
        others = tomllib.loads(self.text).get("flows", [])
        always = [each for each in others if "start" not in each]
        return 1.0 / (1 + sum(int(each.get("count", 1)) for each in always))

    def required(self, kind: str) -> str:
        """Returns the requirement of a kind on this network: `goodput@` and `delay@` get a bound."""
        rng = np.random.default_rng([self.seed, 2])
        times, floor = log_uniform(rng, *_BOUND_RTTS), log_uniform(rng, *_FLOOR_MBPS)
        if kind == "delay@":
            return f"delay@{floor:.3f}Mbps"
        if kind == "goodput@":
            rtt_s = in_unit(tomllib.loads(self.text)["path"]["rtt"], "s") or 0.0
            return f"goodput@{times * rtt_s * 1e3:.1f}ms"
        return kind

    def scenario(self, flows: str, duration_s: float) -> Scenario:
        """Returns the network with these flows (TOML), the first of which is looked at, for so long."""
        head = (
            f'name = "{self.family}-{self.number}"\nduration = "{duration_s:.1f}s"\n'
            '[variation]\nstart_jitter = "0s"\n'
        )
        path, *others = self.text.split("[[flows]]")
        started = [f"[[flows]]{each}" for each in others if _begin_of(each) < round(duration_s, 1)]
        text = head + path + (flows or "[[flows]]\n") + "".join(started)
        return Scenario.from_toml(text, f"{self.family}-{self.number}", "", [])


def _begin_of(flow: str) -> float:
    """Returns when a flow (TOML) begins, s."""
    return in_unit(tomllib.loads(flow).get("start"), "s") or 0.0


#: Functions that draw a network, by family; the seeds of networks depend on their order.
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


def networks(families: Sequence[str], each: int, seed: int) -> Iterator[Network]:
    """Returns `each` networks of each family; the same seed gives the same networks.

    Raises:
        CelltcpError: if there is no family of a name.
    """
    for name in families:
        if name not in FAMILIES:
            raise CelltcpError(f"scenarios: {name!r} is no family; allowed: {', '.join(FAMILIES)}")
        for number in range(each):
            place = list(FAMILIES).index(name)
            rng = np.random.default_rng([seed, place, number])
            yield Network(name, number, int(rng.integers(1 << 31)), FAMILIES[name](rng))
