"""Licences and notices of third-party software in the wheel, in one file: `python3 notices.py FILE`.

The software is linked crates, and uPlot, which is embedded in reports.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Crates of celltcp that the wheel has as a module or a program.
_ROOTS = ("celltcp-python-bindings", "celltcp-kernel-guest", "celltcp-kernel-network")
_NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "UNLICENSE", "COPYRIGHT")
_TOP = Path(__file__).parents[2]
_UPLOT = _TOP / "python/celltcp/present/page/uplot"


def linked(metadata: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the foreign packages that are compiled into the wheel, by name and version."""
    packages = {each["id"]: each for each in metadata["packages"]}
    nodes = {each["id"]: each for each in metadata["resolve"]["nodes"]}
    waiting = [name for name, each in packages.items() if each["name"] in _ROOTS]
    if len(waiting) != len(_ROOTS):
        raise SystemExit(f"notices: not all of {', '.join(_ROOTS)} are in the workspace")
    reached: set[str] = set()
    while waiting:
        package = waiting.pop()
        if package in reached:
            continue
        reached.add(package)
        for dependency in nodes[package]["deps"]:
            # Macros and build scripts are not linked, but their output is: they are named, too.
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])
    foreign = [packages[each] for each in reached if packages[each]["source"] is not None]
    return sorted(foreign, key=lambda each: (each["name"], each["version"]))


def texts(package: dict[str, Any]) -> list[str]:
    """Returns the licence texts and notices of a package."""
    folder = Path(package["manifest_path"]).parent
    files = [file for file in sorted(folder.iterdir()) if file.name.upper().startswith(_NAMES)]
    found = [file.read_text("utf-8", "replace").strip() for file in files if file.is_file()]
    if found:
        return found
    # The package has no file: its metadata name a licence whose text is known.
    holders = ", ".join(package["authors"]) or f"the authors of {package['name']}"
    licence = package["license"] or ""
    if "MIT" in licence:
        _, _, terms = (_TOP / "LICENSE-MIT").read_text("utf-8").partition("Permission is hereby")
        return [f"MIT License\n\nCopyright (c) {holders}\n\nPermission is hereby{terms}".strip()]
    if "Apache-2.0" in licence:
        return [(_TOP / "LICENSE-APACHE").read_text("utf-8").strip()]
    raise SystemExit(f"notices: {package['name']} ({licence}) has no licence text")


def main(target: str) -> None:
    """Writes the file."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    command += ["--filter-platform", "x86_64-unknown-linux-gnu"]
    metadata = subprocess.run(command, cwd=_TOP, check=True, capture_output=True, text=True).stdout
    parts = ["Third-party software that is compiled into celltcp or goes with it, with its licences."]
    for package in linked(json.loads(metadata)):
        where = package["repository"] or "https://crates.io/crates/" + package["name"]
        parts.append(
            f"{'=' * 80}\n{package['name']} {package['version']}\n{package['license']}\n{where}"
        )
        parts += texts(package)
    version = (_UPLOT / "uPlot.iife.min.js").read_text("utf-8").partition("(v")[2].partition(")")[0]
    parts.append(f"{'=' * 80}\nuPlot {version}\nMIT\nhttps://github.com/leeoniya/uPlot")
    parts.append((_UPLOT / "LICENSE").read_text("utf-8").strip())
    Path(target).write_text("\n\n".join(parts) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
