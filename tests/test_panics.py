"""Panics: the run is named, what is finished stays, and nothing waits for what is lost."""

from __future__ import annotations

import pickle
import time
from pathlib import Path
from typing import Any

import pytest

import celltcp as ct
from celltcp._core import Run
from celltcp.scenarios.scenarios import load_scenario

PANIC = "CELLTCP_PANIC_AT"


@pytest.fixture(autouse=True)
def no_backtrace(monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment not ask for the backtraces of panics."""
    monkeypatch.delenv("RUST_BACKTRACE", raising=False)


COMPARE = ("compare", "steady-5-18", "--cca", "cubic,bbr", "--runs", "3", "--duration", "4s", "-q")


def files(folder: Path) -> dict[str, bytes]:
    """The tables of a folder."""
    return {file.name: file.read_bytes() for file in sorted(folder.glob("*.parquet"))}


def test_a_panic_ends_a_campaign_at_once_and_keeps_what_is_finished(
    celltcp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert celltcp(*COMPARE, "--out", "whole").returncode == 0
    monkeypatch.setenv(PANIC, "2 bbr")
    ended = celltcp(*COMPARE, "--jobs", "1", "--out", "broken")
    assert ended.returncode == 70
    (line,) = ended.stderr.splitlines()
    assert line.startswith(
        "celltcp: scenario steady-5-18, cca bbr, seed 2, engine native: panic at crates/"
    )
    assert "faults.rs:" in line
    assert "`celltcp run steady-5-18 --cca 'bbr' --seed 2`" in line
    assert "4 of 6 runs are kept in broken" in line
    monkeypatch.delenv(PANIC)
    resumed = celltcp(*COMPARE, "--out", "broken")
    assert resumed.returncode == 0, resumed.stderr
    assert files(tmp_path / "broken") == files(tmp_path / "whole")


@pytest.mark.parametrize("threads", [1, 3])
def test_no_thread_waits_for_a_run_that_has_panicked(
    monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setenv(PANIC, "1 cubic")
    begun = time.monotonic()
    with pytest.raises(ct.InternalError, match="cca cubic, seed 1"):
        # The other runs would take minutes.
        ct.compare("steady-5-18", cca=["cubic", "bbr"], runs=20, duration="600s", jobs=threads)
    assert time.monotonic() - begun < 20


def test_a_run_that_has_panicked_says_so_and_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = load_scenario("steady-5-18", changes=["duration=2s"]).with_cca("bbr")
    monkeypatch.setenv(PANIC, "7 bbr")
    broken = Run(scenario, 7)
    monkeypatch.delenv(PANIC)
    assert broken.advance(0.5)
    for call in (lambda: broken.advance(2.0), broken.take_samples, broken.finish):
        with pytest.raises(ct.InternalError, match=r"steady-5-18, cca bbr, seed 7, engine native: "):
            call()
    assert Run(scenario, 7).advance(2.0)


def play(env: Any) -> None:
    """Plays an episode to its end."""
    while not any(env.step(0)[2:4]):
        pass


def test_an_environment_survives_a_panic(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = pytest.importorskip("celltcp.selection.environment", exc_type=ImportError)
    env = environment.SelectionEnv("steady-5-18", duration="4s")
    _, info = env.reset(seed=3)
    monkeypatch.setenv(PANIC, str(info["seed"]))
    env.reset(seed=3)
    with pytest.raises(ct.InternalError, match=f"seed {info['seed']}, engine native: panic at"):
        play(env)
    with pytest.raises(ct.InternalError, match="the run has ended by a fault of celltcp"):
        env.step(0)
    monkeypatch.delenv(PANIC)
    env.reset(seed=3)
    env.step(0)


def test_a_fault_can_be_sent_from_a_worker() -> None:
    for kind in (ct.InternalError, ct.KernelEngineError):
        sent = pickle.loads(pickle.dumps(kind("what")))
        assert type(sent) is kind
        assert isinstance(sent, ct.CelltcpError)
    assert (ct.InternalError.exit_code, ct.KernelEngineError.exit_code) == (70, 69)
