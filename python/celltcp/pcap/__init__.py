"""Captures: analysis of the TCP connections in pcap and pcapng files."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from celltcp.pcap.analysis import CaptureAnalyses, analyse

__all__ = ["CaptureAnalyses", "analyse"]


def __getattr__(name: str) -> object:
    """Imports a name on its first use: a schema of an outcome needs no pandas, which takes long."""
    if name in __all__:
        return getattr(importlib.import_module("celltcp.pcap.analysis"), name)
    raise AttributeError(f"module 'celltcp.pcap' has no attribute {name!r}")
