"""Training of policies: random networks, measured outcomes of choices, and trees grown from them."""

from __future__ import annotations

from celltcp.selection.training.train import Training, train

__all__ = ["Training", "train"]
