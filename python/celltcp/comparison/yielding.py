"""Note on a best congestion control that may get little beside flows of others."""

from __future__ import annotations

import json
import shlex
import tomllib
from typing import TYPE_CHECKING

from celltcp.comparison.choices import choices_of
from celltcp.scenarios.cca_mix import labels, parse_flow_cca
from celltcp.scenarios.ccas import family_of

if TYPE_CHECKING:
    from celltcp.comparison.comparison import Comparison

#: Fields of a flow that a command for two flows repeats.
_ENDS = ("from", "to")


def yielding_text(comparison: Comparison) -> str:
    """Returns a note on best CCAs that may get little beside others, with a command; or empty.

    They reduce their windows when packets wait. A scenario with a single bulk flow does not show the
    cost of that.
    """
    flows = tomllib.loads(comparison.results.about["scenario"]).get("flows", ())
    if len(flows) != 1 or flows[0].get("workload", {}).get("kind", "bulk") != "bulk":
        return ""
    best = [str(choice.verdict.best) for choice in choices_of(comparison) if choice.verdict.best]
    yielding = [each for each in dict.fromkeys(best) if family_of(parse_flow_cca(each).name) == "delay"]
    if not yielding:
        return ""
    names = labels(comparison.ccas)
    ends = "".join(f",{end}={json.dumps(flows[0][end])}" for end in _ENDS if end in flows[0])
    pair = ",".join(f'{{name="{name}"{ends}}}' for name in ("ours", "other"))
    mix = f"{parse_flow_cca(yielding[0]).text}+cubic"
    reduces = "reduces its window" if len(yielding) == 1 else "reduce their windows"
    return (
        f"{' and '.join(names[each] for each in yielding)} {reduces} when packets wait, and "
        f"may get little beside others: --cca {mix} --set {shlex.quote(f'flows=[{pair}]')} shows it"
    )
