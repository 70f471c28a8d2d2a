"""The policy file of grown trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from celltcp.selection.training.fit import WEIGHTS, Grown

#: Congestion controls that a leaf may choose: the best of its cases by the requirement's measure.
_NAMED = 5

#: What a change in flight, and leaving the default at the start, must be expected to gain.
#: Goodput: a window that was handed over takes longer than the horizon of the training to fill a deep
#: buffer again; where nothing is lost at random, CUBIC that stays delivers some 7 % more than CUBIC
#: that has just taken over. Delay: who keeps the queue empty and stays is better by as much.
_MARGINS = {"goodput": (0.07, 0.05), "balanced": (0.02, 0.0), "delay": (0.08, 0.0)}


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
            f"margin = {_MARGINS[tree.requirement][0]}",
            f"start_margin = {_MARGINS[tree.requirement][1]}",
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

    take = sorted(cast(list[str], node["take"]), key=score, reverse=True)[:_NAMED]
    named = ", ".join(f'"{cca}"' for cca in take)
    spelt = ", ".join(f"{cca} = {values}" for cca, values in parts.items())
    return f"    {{ cases = {node['cases']}, take = [{named}], parts = {{ {spelt} }} }}, # {number}"
