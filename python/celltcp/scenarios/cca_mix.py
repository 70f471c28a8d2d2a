"""Line-ups: the congestion controls of flows that run together, and the middleboxes that they pass.

Results also name congestion controls that this process does not know, so that no name is checked here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from celltcp._core import lineup_parts

#: Name of a selector in place of a congestion control.
AUTO = "auto"


@dataclass(frozen=True)
class FlowCca:
    """The congestion control of a flow: name and parameters."""

    name: str
    parameters: Mapping[str, str]
    #: Name and parameters as they stand in the line-up.
    text: str

    @property
    def is_selector(self) -> bool:
        """Whether a policy selects among congestion controls."""
        return self.name == AUTO


@dataclass(frozen=True)
class CcaMix:
    """A line-up in its parts."""

    flows: tuple[FlowCca, ...]
    #: Middleboxes, joined by at signs, or `"none"`; empty where those of the scenario stay.
    middleboxes: str

    @property
    def selects(self) -> bool:
        """Whether a flow has a selector."""
        return any(flow.is_selector for flow in self.flows)

    @property
    def single(self) -> str | None:
        """Name of the congestion control of a single flow; None for several flows."""
        return self.flows[0].name if len(self.flows) == 1 else None


def parse_mix(text: str) -> CcaMix:
    """Returns the parts of a line-up, such as `cubic:beta=0.8,hystart=off+bbr@es`."""
    flows, middleboxes = lineup_parts(text)
    ccas = tuple(FlowCca(name, dict(settings), flow) for flow, name, settings in flows)
    return CcaMix(ccas, middleboxes or "")


def flow_cca(text: str) -> FlowCca:
    """Returns the parts of the congestion control of one flow."""
    return parse_mix(text).flows[0]
