"""Selection of CCAs: policies, their training and evaluation, and the decisions of selectors."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.selection.evaluation import Evaluation, evaluate
    from celltcp.selection.explanation import Explanation, explain
    from celltcp.selection.training import TrainingResult, train

_HOMES = {
    "Evaluation": "celltcp.selection.evaluation",
    "Explanation": "celltcp.selection.explanation",
    "TrainingResult": "celltcp.selection.training",
    "evaluate": "celltcp.selection.evaluation",
    "explain": "celltcp.selection.explanation",
    "train": "celltcp.selection.training",
}

__all__ = ["Evaluation", "Explanation", "TrainingResult", "evaluate", "explain", "train"]


def __getattr__(name: str) -> object:
    """Imports a name on its first use, because importing pandas takes long."""
    if name in _HOMES:
        value = getattr(importlib.import_module(_HOMES[name]), name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'celltcp.selection' has no attribute {name!r}")
