"""Source tree of a kernel: its check, the addition of celltcp's driver, and the CCAs that it builds."""

from __future__ import annotations

import re
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.kernel.edits import apply_edits
from celltcp.kernel.side import driver_files

_DRIVER = "arch/um/drivers/celltcp"
_DRIVERS_MAKEFILE = "arch/um/drivers/Makefile"
_DRIVER_LINE = "obj-y += celltcp/"


def check_tree(tree: Path, name: str) -> None:
    """Checks that a folder is the source of a kernel with user mode (arch/um).

    Raises:
        CelltcpError: if it is something else; `name` is that of the source.
    """
    makefile = tree / "Makefile"
    text = makefile.read_text("utf-8", errors="replace") if makefile.is_file() else ""
    if not re.search(r"(?m)^VERSION = \d+$", text):
        raise CelltcpError(f"{name}: not the source of a Linux kernel: no Makefile with VERSION")
    if not (tree / _DRIVERS_MAKEFILE).is_file():
        raise CelltcpError(f"{name}: the source has no arch/um, the user-mode architecture")


def apply_side(side: Path, tree: Path) -> None:
    """Adds the driver and the edits to a source.

    Unchanged files keep their times, so that make compiles only changed ones.

    Raises:
        CelltcpError: if a text to edit is missing.
    """
    apply_edits(tree)
    driver = tree / _DRIVER
    driver_by_path = {file.relative_to(side / "driver"): file for file in driver_files(side)}
    for name, file in driver_by_path.items():
        _write_if_changed(driver / name, file.read_bytes())
    for file in driver.rglob("*"):
        if file.is_file() and file.relative_to(driver) not in driver_by_path:
            file.unlink()
    makefile = tree / _DRIVERS_MAKEFILE
    text = makefile.read_text("utf-8")
    if _DRIVER_LINE not in text.splitlines():
        makefile.write_text(f"{text.rstrip()}\n{_DRIVER_LINE}\n", "utf-8")


def _write_if_changed(file: Path, content: bytes) -> None:
    if not file.is_file() or file.read_bytes() != content:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)


def built_in_ccas(tree: Path, config: Path) -> list[str]:
    """Returns the names of the CCAs that a configuration builds into the kernel, sorted.

    The file of a setting is in net/ipv4/Makefile, the name of the CCA in that file.
    """
    enabled = set(re.findall(r"(?m)^(CONFIG_TCP_CONG_\w+)=y$", config.read_text("utf-8")))
    folder = tree / "net" / "ipv4"
    names = {"reno"}  # part of TCP itself
    for setting, stem in re.findall(
        r"(?m)^obj-\$\((CONFIG_TCP_CONG_\w+)\)\s*\+=\s*(\w+)\.o$",
        (folder / "Makefile").read_text("utf-8"),
    ):
        if setting in enabled:
            names |= _registered_ccas(folder / f"{stem}.c")
    return sorted(names)


def _registered_ccas(file: Path) -> set[str]:
    text = file.read_text("utf-8")
    return {
        name
        for operations in re.findall(r"tcp_register_congestion_control\(&(\w+)\)", text)
        for name in re.findall(
            rf'struct tcp_congestion_ops {operations}\b[^;]*?\.name\s*=\s*"([^"]+)"', text
        )
    }
