"""Remedies of split proxies at the node nearest to the phone that divides the delay of the path."""

from __future__ import annotations

from typing import TYPE_CHECKING

from celltcp.comparison.explanation.remedies.remedy import Remedy
from celltcp.results.warnings.split_delay import dividing_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from celltcp.comparison.explanation.evidence.evidence import Evidence


def split_proxy(evidence: Evidence, against: str, detail: str, cca: str = "") -> Iterator[Remedy]:
    """Yields a split proxy against an effect, with a CCA of its own if one is named.

    `detail` follows its name in the text. Nothing without such a node, or if the CCA names a middlebox.
    """
    node = dividing_node(evidence.scenario)
    if node is None or "@" in evidence.cca:
        return
    at = "" if node == "gateway" else f"at={node}"
    parameters = ",".join(filter(None, [at, cca and f"cca={cca}"]))
    yield Remedy(
        against,
        middlebox=f"split:{parameters}".removesuffix(":"),
        network=f"a split proxy at {node}{detail}",
    )
