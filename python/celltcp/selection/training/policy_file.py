"""Policy file of grown trees and measured moments."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from celltcp.selection.training.fit import WEIGHTS, FittedTree
from celltcp.selection.training.knn_weights import AFTER_S, NEIGHBOURS, KnnModel

#: Congestion controls that a leaf may choose: the best of its cases by the requirement's measure.
_NAMED = 5


def policy_text(
    name: str,
    description: str,
    source: str,
    features: Sequence[str],
    families: Sequence[str],
    trees: Sequence[FittedTree | KnnModel],
    table: str = "",
    remarks: Mapping[str, str] | None = None,
    instead: Mapping[str, str] | None = None,
) -> str:
    """Returns the text of a policy file with these trees, and with moments for the other requirements.

    Args:
        name: of the policy.
        description: description in one sentence.
        source: the command that made it.
        features: names of the features of the training.
        families: the families that it was trained on.
        trees: a tree per requirement and moment, or what makes its moments alike.
        table: the table of these moments.
        remarks: a line about the trees of each requirement.
        instead: CCAs of Linux for those that Linux lacks.
    """
    lines = [
        f"name = {_quoted(name)}",
        f"description = {_quoted(description)}",
        f"source = {_quoted(source)}",
        "trained_on = [" + ", ".join(_quoted(family) for family in families) + "]",
        *_instead(instead or {}),
        "",
        "[method.tree]",
        "features = [" + ", ".join(f'"{feature}"' for feature in features) + "]",
    ]
    moments = [each for each in trees if isinstance(each, KnnModel)]
    for tree in trees:
        if isinstance(tree, KnnModel):
            continue
        remark = (remarks or {}).get(tree.requirement) if tree.moment == "start" else None
        lines += [
            "",
            *([f"# {remark}"] if remark else []),
            *_on_families(tree),
            "[[method.tree.trees]]",
            f'requirement = "{tree.requirement}"',
            f'moment = "{tree.moment}"',
            f"margin = {tree.margin}",
            "nodes = [",
            *(_node(number, node, tree.requirement) for number, node in enumerate(tree.nodes)),
            "]",
        ]
    return "\n".join(lines + _moments(moments, table)) + "\n"


def _moments(choices: Sequence[KnnModel], table: str) -> list[str]:
    if not choices:
        return []
    lines = ["", "[method.tree.moments]"]
    lines += [f"neighbours = {min(NEIGHBOURS, table.count(chr(10)))}", "choices = ["]
    for each in choices:
        weights = ", ".join(f"{name} = {weight}" for name, weight in each.weights.items())
        lines += [
            *(f"    {line}" for line in _on_families(each)),
            f'    {{ requirement = "{each.requirement}", margin = {each.margin}, sure = {each.sure}, '
            f"after = {AFTER_S}, reach = {each.reach}, weights = {{ {weights} }} }},",
        ]
    return [*lines, "]", 'table = """', table, '"""']


def _instead(instead: Mapping[str, str]) -> list[str]:
    if not instead:
        return []
    return ["", "[instead]", *(f"{name} = {_quoted(other)}" for name, other in instead.items())]


def _quoted(text: str) -> str:
    """Returns a basic string of TOML, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _on_families(tree: FittedTree | KnnModel) -> list[str]:
    if not tree.regret:
        return []
    regret = sum(tree.regret.values()) / len(tree.regret)
    alone = sum(tree.regret_of_one.values()) / len(tree.regret_of_one)
    return [
        f"# On families of networks that were left out: {regret:.2%} below the best choice of each",
        f"# moment; the best single congestion control {alone:.2%}.",
    ]


def _node(number: int, node: dict[str, object], requirement: str) -> str:
    if "parts" not in node:
        unknown = f", unknown = {node['unknown']}" if "unknown" in node else ""
        return (
            f'    {{ feature = "{node["feature"]}", threshold = {node["threshold"]:.6g}, '
            f"below = {node['below']}, from = {node['from']}{unknown} }}, # {number}"
        )
    parts = cast(dict[str, list[float]], node["parts"])
    weights = WEIGHTS[requirement]

    def score(cca: str) -> float:
        return sum(weight * part for weight, part in zip(weights, parts[cca], strict=True))

    take = sorted(cast(list[str], node["take"]), key=score, reverse=True)[:_NAMED]
    named = ", ".join(f'"{cca}"' for cca in take)
    spelt = ", ".join(f"{cca} = {values}" for cca, values in parts.items())
    return f"    {{ cases = {node['cases']}, take = [{named}], parts = {{ {spelt} }} }}, # {number}"
