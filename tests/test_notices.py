"""Notices of linked crates and of uPlot in the wheel."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).parents[1]


def test_every_linked_crate_has_its_licence(tmp_path: Path) -> None:
    file = tmp_path / "THIRD-PARTY"
    subprocess.run([sys.executable, TOP / "crates/python/notices.py", file], check=True)
    _, *parts = re.split(r"^={80}\n", file.read_text("utf-8"), flags=re.MULTILINE)
    names = [part.split()[0] for part in parts]
    assert {"pyo3", "arrow-array", "serde", "libm", "postcard", "uPlot"} <= set(names)
    assert not {name for name in names if name.startswith("celltcp")} | (
        {"proptest", "criterion"} & set(names)
    )
    for part in parts:
        assert re.search("permi|licen[cs]e", part.partition("\n\n")[2], re.IGNORECASE), part[:80]
        assert len(part) > 400, part
