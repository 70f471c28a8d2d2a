"""Gymnasium environment: selection of CCAs as a task for reinforcement learning.

The import of this module registers the environment `celltcp/Selection-v0`.
"""

from __future__ import annotations

from celltcp._core import CelltcpError

try:
    import gymnasium
except ImportError:
    raise CelltcpError("env: Gymnasium is not installed; `pip install 'celltcp[env]'` does") from None

from celltcp.selection.environment.env import SelectionEnv
from celltcp.selection.environment.observation import Observed

__all__ = ["ID", "Observed", "SelectionEnv"]

#: Name of the environment in the registry of Gymnasium.
ID = "celltcp/Selection-v0"

if ID not in gymnasium.registry:
    gymnasium.register(ID, entry_point="celltcp.selection.environment.env:SelectionEnv")
