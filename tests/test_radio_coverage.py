"""UEs that no cell reaches."""

from __future__ import annotations

from typing import TYPE_CHECKING

import celltcp as ct

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Celltcp


def scenario(folder: Path, sinr: str) -> str:
    """A phone that stands at this SINR for 5 s."""
    file = folder / "cell.toml"
    file.write_text(f'duration = "5s"\n[radio]\nues = [{{ sinr = "{sinr}" }}]\n')
    return str(file)


def test_a_run_without_coverage_says_so(tmp_path: Path) -> None:
    result = ct.compare(scenario(tmp_path, "-20dB"), cca="cubic,bbr", runs=2)
    assert len(result.warnings) == 2
    assert "no cell reached phone in 2 of 2 runs" in result.warnings[0]
    assert result.to_json()["warnings"] == result.warnings


def test_a_run_with_coverage_has_no_warning(tmp_path: Path) -> None:
    assert ct.compare(scenario(tmp_path, "10dB"), cca="cubic", runs=1).warnings == []


def test_the_command_line_warns(tmp_path: Path, celltcp: Celltcp) -> None:
    file = scenario(tmp_path, "-20dB")
    for command in (["compare", file, "--cca", "cubic", "--runs", "1"], ["run", file]):
        done = celltcp(*command)
        assert done.returncode == 0, done.stderr
        said = " ".join((done.stdout + done.stderr).split())
        assert "warning: cubic, flow-1: no cell reached phone" in said
