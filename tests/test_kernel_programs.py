"""Programs of the kernel engine: those of different builds are refused, with the command that helps."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path
from types import SimpleNamespace

import pytest

import celltcp.kernel
from celltcp._core import CelltcpError
from celltcp.campaign.engines import engine
from celltcp.kernel import programs
from celltcp.kernel.status import status

_NAMES = ("_core.abi3.so", "engine/celltcp-guest", "engine/libkernel_network.so")


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with three programs of one build, and their stamp."""
    lines = []
    (tmp_path / "engine").mkdir()
    for name in _NAMES:
        (tmp_path / name).write_bytes(name.encode())
        lines.append(f"{hashlib.sha256(name.encode()).hexdigest()}  {name}\n")
    (tmp_path / "stamp").write_text("".join(lines))
    monkeypatch.setattr(programs, "_PACKAGE", tmp_path)
    monkeypatch.setattr(programs, "_STAMP", tmp_path / "stamp")
    monkeypatch.setattr(celltcp.kernel, "find", lambda _: SimpleNamespace(version="7.3"))
    return tmp_path


@pytest.mark.parametrize("seed", range(3))
def test_programs_of_another_build_are_refused_and_named(package: Path, seed: int) -> None:
    assert status()["other_builds"] == []
    assert engine("kernel").name == "kernel"
    draw = random.Random(seed)
    others = sorted(draw.sample(_NAMES, draw.randint(1, 2)), key=_NAMES.index)
    for name in others:
        if draw.random() < 0.5:
            (package / name).write_bytes(b"of other sources")
        else:
            (package / name).unlink()
    assert status()["other_builds"] == others
    with pytest.raises(CelltcpError, match=r"of another build than the rest .*; `make setup` builds"):
        engine("kernel")
    assert engine("native").name == "native"


@pytest.mark.parametrize("text", [None, "", "0\n\n  \n"])
def test_without_a_stamp_nothing_is_refused(package: Path, text: str | None) -> None:
    """A wheel has none, and earlier checkouts have an empty one."""
    (package / "stamp").unlink()
    if text is not None:
        (package / "stamp").write_text(text)
    (package / _NAMES[1]).write_bytes(b"of other sources")
    assert programs.other_builds() == []
    assert engine("kernel").name == "kernel"
