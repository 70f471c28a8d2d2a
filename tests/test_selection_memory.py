"""Memory files from stored results."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import celltcp as ct
from celltcp.selection.memory import memory_of

if TYPE_CHECKING:
    from conftest import Celltcp

#: CUBIC until it is known what it costs.
CHEAPEST = """
name = "cheapest"
description = "Chooses the CCA with the lowest cost, from the second connection on."
[method.cost]
candidates = ["bbr", "cubic"]
min_connections = 2
explore = 0.0
on_loss = "cubic"
"""


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four downloads, two of them under selectors that keep BBR."""
    folder = tmp_path_factory.mktemp("kept")
    auto = "auto:cca=bbr,policy=fixed"
    ct.compare("steady-20-68", cca=f"cubic,{auto}", runs=2, duration="4s", out=folder)
    return folder


def test_runs_of_one_label_are_remembered_one_after_the_other(kept: Path) -> None:
    known = tomllib.loads(memory_of(kept))["destinations"]["phone"]
    assert known["connections"] == 2
    assert known["ccas"].keys() == {"bbr"}
    assert known["ccas"]["bbr"]["connections"] == 2
    assert known["min_rtt_ms"] == pytest.approx(68, abs=2)
    assert 15 < known["max_rate_mbps"] < 20


def test_the_command_writes_a_file_that_selectors_start_with(kept: Path, celltcp: Celltcp) -> None:
    done = celltcp("select", "memory", str(kept))
    assert done.returncode == 0, done.stderr
    assert done.stdout == memory_of(kept)
    (kept / "known.toml").write_text(done.stdout)
    (kept / "cheapest.toml").write_text(CHEAPEST)
    auto = f"auto:policy={kept}/cheapest.toml"
    ignorant = ct.run("steady-20-68", auto, duration="1s").decisions
    knowing = ct.run("steady-20-68", f"{auto},memory={kept}/known.toml", duration="1s").decisions
    assert "nothing is known" in ignorant["reason"][0]
    # Both congestion controls have cost next to nothing so far; CUBIC, which was not tried, nothing.
    assert knowing["reason"][0].startswith("lowest cost so far")


def test_what_was_known_is_added_to(kept: Path, tmp_path: Path) -> None:
    before = tmp_path / "known.toml"
    before.write_text(
        "[destinations.tablet]\nconnections = 1\n"
        "[destinations.phone]\nconnections = 5\nmin_rtt_ms = 20.0\n"
        "[destinations.phone.ccas.cubic]\ncost = 1.5\n"
    )
    known = tomllib.loads(memory_of(kept, known=before))["destinations"]
    assert known["tablet"]["connections"] == 1
    assert known["phone"]["connections"] == 7
    assert known["phone"]["min_rtt_ms"] == 20.0
    assert known["phone"]["ccas"]["cubic"]["cost"] == 1.5
    # Against the 20 ms of before, 68 ms cost more.
    assert known["phone"]["ccas"]["bbr"]["cost"] > 2


def test_connections_of_a_sequence_count_each(tmp_path: Path) -> None:
    change = 'flows.0.workload={kind="sequence",size="300kB",count=3,gap="100ms"}'
    ct.compare("steady-20-68", cca="auto", runs=1, set=[change], out=tmp_path)
    known = tomllib.loads(memory_of(tmp_path))["destinations"]["phone"]
    assert known["connections"] == 3


def test_what_cannot_be_answered_is_told(kept: Path, tmp_path: Path, celltcp: Celltcp) -> None:
    several = tmp_path / "several"
    ct.compare("steady-20-68", cca="auto:policy=rules,auto", runs=1, duration="1s", out=several)
    plain = tmp_path / "plain"
    ct.compare("steady-20-68", cca="cubic", runs=1, duration="1s", out=plain)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[destinations.phone]\nmin_rtt_ms = inf\n")
    for arguments, told in (
        ([several], ("cca", "several", "auto:policy=rules; auto")),
        ([several, "--cca", "auto:policy=bpftune"], ("not selected", "auto:policy=rules")),
        ([plain], ("no congestion control was selected",)),
        (
            [kept, "--extend", wrong],
            ("wrong.toml", "destinations.phone.min_rtt_ms", "inf", "0 to 120000"),
        ),
        ([kept, "--extend", "none.toml"], ("none.toml", "cannot be read")),
    ):
        done = celltcp("select", "memory", *map(str, arguments))
        assert done.returncode == 2
        assert done.stdout == ""
        (line,) = done.stderr.strip().splitlines()
        assert all(part in line for part in told), line
    one = memory_of(several, cca="auto:policy=rules")
    assert tomllib.loads(one)["destinations"]["phone"]["connections"] == 1


def test_hints_without_a_radio_are_warned_of(celltcp: Celltcp) -> None:
    auto = "auto:cca=reno,hints=on,policy=fixed"
    wired = ct.compare("steady-20-68", cca=f"cubic,{auto}", runs=1, duration="1s")
    told = f"{auto}: hints=on, but steady-20-68 has no radio: it got no hints"
    assert wired.warnings == [told]
    radio = ct.compare("mobility/forward-300-low", cca=auto, runs=1, duration="1s")
    assert radio.warnings == []
    for command in (["compare", "--runs", "1"], ["run"]):
        done = celltcp(*command, "steady-20-68", "--duration", "1s", "--cca", auto)
        assert done.returncode == 0, done.stderr
        assert f"warning: {told}" in " ".join((done.stdout + done.stderr).split())
