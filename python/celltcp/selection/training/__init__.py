"""Training of policies: random networks, what would have come of each choice, and trees of it."""

from __future__ import annotations

from celltcp.selection.training.train import Training, train

__all__ = ["Training", "train"]
