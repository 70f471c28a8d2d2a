"""Text of a policy file with fitted trees and kNN models."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import cast

from celltcp.selection.training.fit import WEIGHTS, FittedTree
from celltcp.selection.training.knn_weights import AFTER_S, NEIGHBOURS, KnnModel

#: Maximum number of CCAs that a leaf may choose: the best ones by the requirement's measure.
_MAX_LEAF_CCAS = 5


def policy_text(
    name: str,
    description: str,
    source: str,
    features: Sequence[str],
    families: Sequence[str],
    models: Sequence[FittedTree | KnnModel],
    examples: str = "",
    remarks: Mapping[str, str] | None = None,
    substitutes: Mapping[str, str] | None = None,
) -> str:
    """Returns the text of a policy file with these models, one per requirement and moment.

    `source` is the command that trained it, `examples` are the kNN examples as CSV, and `remarks` are
    comments by requirement. `substitutes` are CCAs of Linux in place of CCAs that Linux lacks.
    """
    lines = [
        f"name = {_quoted(name)}",
        f"description = {_quoted(description)}",
        f"source = {_quoted(source)}",
        "trained_on = [" + ", ".join(map(_quoted, families)) + "]",
        *(["", "[instead]"] if substitutes else []),
        *(f"{cca} = {_quoted(linux_cca)}" for cca, linux_cca in (substitutes or {}).items()),
        "",
        "[method.tree]",
        "features = [" + ", ".join(f'"{feature}"' for feature in features) + "]",
    ]
    for tree in models:
        if isinstance(tree, KnnModel):
            continue
        remark = (remarks or {}).get(tree.requirement) if tree.moment == "start" else None
        lines += [
            "",
            *([f"# {remark}"] if remark else []),
            *_regret_comment(tree),
            "[[method.tree.trees]]",
            f'requirement = "{tree.requirement}"',
            f'moment = "{tree.moment}"',
            f"margin = {tree.margin}",
            "nodes = [",
            *(_node(index, node, tree.requirement) for index, node in enumerate(tree.nodes)),
            "]",
        ]
    knn_models = [model for model in models if isinstance(model, KnnModel)]
    return "\n".join(lines + _knn_lines(knn_models, examples)) + "\n"


def _knn_lines(models: Sequence[KnnModel], examples: str) -> list[str]:
    if not models:
        return []
    lines = ["", "[method.tree.moments]"]
    lines += [f"neighbours = {min(NEIGHBOURS, examples.count(chr(10)))}", "choices = ["]
    for model in models:
        weights = ", ".join(f"{name} = {weight}" for name, weight in model.weights.items())
        lines += [
            *(f"    {line}" for line in _regret_comment(model)),
            f'    {{ requirement = "{model.requirement}", margin = {model.margin}, '
            f"sure = {model.sure}, after = {AFTER_S}, reach = {model.reach}, "
            f"weights = {{ {weights} }} }},",
        ]
    return [*lines, "]", 'table = """', examples, '"""']


def _quoted(text: str) -> str:
    """Returns a TOML string, whose escapes are those of JSON."""
    return json.dumps(text, ensure_ascii=False)


def _regret_comment(model: FittedTree | KnnModel) -> list[str]:
    if not model.regret:
        return []
    regret = sum(model.regret.values()) / len(model.regret)
    fixed_cca_regret = sum(model.fixed_cca_regret.values()) / len(model.fixed_cca_regret)
    return [
        f"# On families of networks that were left out: {regret:.2%} below the best choice of each",
        f"# moment; the best single congestion control {fixed_cca_regret:.2%}.",
    ]


def _node(index: int, node: dict[str, object], requirement: str) -> str:
    if "parts" not in node:
        unknown = f", unknown = {node['unknown']}" if "unknown" in node else ""
        return (
            f'    {{ feature = "{node["feature"]}", threshold = {node["threshold"]:.6g}, '
            f"below = {node['below']}, from = {node['from']}{unknown} }}, # {index}"
        )
    parts = cast(dict[str, list[float]], node["parts"])
    weights = WEIGHTS[requirement]

    def score(cca: str) -> float:
        return sum(weight * part for weight, part in zip(weights, parts[cca], strict=True))

    take = sorted(cast(list[str], node["take"]), key=score, reverse=True)[:_MAX_LEAF_CCAS]
    ccas = ", ".join(f'"{cca}"' for cca in take)
    measures = ", ".join(f"{cca} = {values}" for cca, values in parts.items())
    return f"    {{ cases = {node['cases']}, take = [{ccas}], parts = {{ {measures} }} }}, # {index}"
