"""Table of the crates of the workspace, from their manifests."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from celltcp.present.schema_tables import table

ROOT = Path(__file__).parent.parent


def crates() -> Iterator[str]:
    """Yields a table of the crates in topological order, dependencies first.

    Dependencies that follow from others are left out (transitive reduction).
    """
    workspace = _manifest(ROOT)["workspace"]
    names = {each["path"]: name for name, each in workspace["dependencies"].items() if "path" in each}
    folders = {
        names.get(path, path): ROOT / path
        for path in workspace["members"]
        if path.startswith("crates/")
    }
    manifests = {name: _manifest(folder) for name, folder in folders.items()}
    dependencies = {
        name: set(each.get("dependencies", ())) & set(folders) for name, each in manifests.items()
    }

    def all_dependencies(name: str) -> set[str]:
        return dependencies[name].union(*map(all_dependencies, dependencies[name]))

    rows = []
    for name in sorted(folders, key=lambda name: (len(all_dependencies(name)), name)):
        direct = dependencies[name].difference(*map(all_dependencies, dependencies[name]))
        path = folders[name].relative_to(ROOT / "crates").as_posix()
        rows.append((path, ", ".join(sorted(direct)), manifests[name]["package"]["description"]))
    yield f"{table(('crate', 'built on', 'contents'), rows)}\n"


def _manifest(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "Cargo.toml").read_text("utf-8"))
