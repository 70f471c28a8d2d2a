"""Warning about congestion controls that a scenario gives parameters, and that ran without them."""

from __future__ import annotations

from collections.abc import Sequence

from celltcp.scenarios.cca_mix import parse_mix


def default_parameters(ccas: Sequence[str], own: str) -> list[str]:
    """Returns a warning for each congestion control with parameters in a scenario but not in its runs.

    A name on the command line stands for the defaults: `cubic` where flows have `hystart = "off"`.

    Args:
        ccas: congestion controls and mixes of the runs.
        own: mix of the scenario.
    """
    tested = {flow.text for mix in ccas for flow in parse_mix(mix).flows}
    flows = {flow.text: flow for flow in parse_mix(own).flows}
    return [
        f"{flow.name} ran with its default parameters; the scenario has {text}: --cca {text} has it"
        for text, flow in flows.items()
        if flow.parameters and flow.name in tested and text not in tested
    ]
