"""The policy file of grown trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from celltcp.selection.training.fit import DEFAULT_CCA, WEIGHTS, Grown

#: Congestion controls that a leaf names: the best of its cases by the requirement's measure, and the
#: system's default, so that it is known what leaving that is expected to gain.
_NAMED = 5


def policy_text(
    name: str,
    description: str,
    source: str,
    features: Sequence[str],
    families: Sequence[str],
    trees: Sequence[Grown],
) -> str:
    """The text of a policy file with these trees.

    Args:
        name: of the policy.
        description: what it does, in a sentence.
        source: where it comes from: the command that made it.
        features: names of the features of the training.
        families: what it was trained on.
        trees: a tree per requirement.
    """
    lines = [
        f'name = "{name}"',
        f'description = "{description}"',
        f'source = "{source}"',
        "trained_on = [" + ", ".join(f'"{family}"' for family in families) + "]",
        "",
        "[method.tree]",
        "features = [" + ", ".join(f'"{feature}"' for feature in features) + "]",
    ]
    for tree in trees:
        regret = sum(tree.regret.values()) / len(tree.regret)
        alone = sum(tree.regret_of_one.values()) / len(tree.regret_of_one)
        lines += [
            "",
            f"# On families of networks that were left out: {regret:.2%} below the best choice of each",
            f"# moment; the best single congestion control {alone:.2%}.",
            "[[method.tree.trees]]",
            f'requirement = "{tree.requirement}"',
            "nodes = [",
            *(_node(number, node, tree.requirement) for number, node in enumerate(tree.nodes)),
            "]",
        ]
    return "\n".join(lines) + "\n"


def _node(number: int, node: dict[str, object], requirement: str) -> str:
    if "parts" not in node:
        return (
            f'    {{ feature = "{node["feature"]}", threshold = {node["threshold"]:.6g}, '
            f"below = {node['below']}, from = {node['from']} }}, # {number}"
        )
    parts = cast(dict[str, list[float]], node["parts"])
    weights = WEIGHTS[requirement]

    def score(cca: str) -> float:
        return sum(weight * part for weight, part in zip(weights, parts[cca], strict=True))

    best = sorted(parts, key=score, reverse=True)[:_NAMED]
    if DEFAULT_CCA in parts and DEFAULT_CCA not in best:
        best.append(DEFAULT_CCA)
    spelt = ", ".join(f"{cca} = {parts[cca]}" for cca in best)
    return f"    {{ cases = {node['cases']}, parts = {{ {spelt} }} }}, # {number}"
