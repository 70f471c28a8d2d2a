"""User-mode Linux kernels (ARCH=um) that run the kernel's own TCP in virtual time."""

from __future__ import annotations

from celltcp.kernel.builder import build
from celltcp.kernel.cache import About, Kernel, clean, find, kernels
from celltcp.kernel.side import kernel_side

__all__ = ["About", "Kernel", "build", "clean", "find", "kernel_side", "kernels"]
