"""Linux kernels for the kernel engine: building, finding and removing them."""

from __future__ import annotations

from celltcp.kernel.building import build
from celltcp.kernel.cache import Kernel, clean, find, kernels

__all__ = ["Kernel", "build", "clean", "find", "kernels"]
