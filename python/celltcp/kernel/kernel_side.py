"""Our part of the kernel, the folder `kernel/`: its driver and its configuration."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from celltcp._core import CelltcpError

#: Names of options that are not the congestion control's own name in capitals.
_NAMES = {"HSTCP": "highspeed"}


def kernel_side() -> Path:
    """The folder: that of an installed package, or that of the checkout."""
    package = Path(__file__).resolve().parent.parent
    for folder in (package / "engine" / "kernel", package.parent.parent / "kernel"):
        if (folder / "driver").is_dir():
            return folder
    raise CelltcpError(f"{package}: the kernel's driver is missing from this installation")


def fingerprint() -> str:
    """Changes whenever a kernel has to be built again."""
    found = hashlib.sha256()
    folder = kernel_side()
    for file in [folder / "config", *sorted((folder / "driver").iterdir())]:
        found.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    return found.hexdigest()[:16]


def congestion_controls(config: str) -> list[str]:
    """The congestion controls that a kernel with this configuration has, by its own names."""
    options = re.findall(r"^CONFIG_TCP_CONG_([A-Z0-9]+)=y$", config, re.MULTILINE)
    names = {_NAMES.get(option, option.lower()) for option in options if option != "ADVANCED"}
    return sorted(names | {"reno"})
