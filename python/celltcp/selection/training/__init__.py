"""Training of selection policies: random networks, measured outcomes of CCAs, trees and kNN models."""

from __future__ import annotations

from celltcp.selection.training.train import TrainingResult, train

__all__ = ["TrainingResult", "train"]
