"""Events that -v prints: the beginning and the end of runs, whichever thread they are on."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import celltcp as ct
from celltcp._core import CelltcpError, Run, log_events
from celltcp.scenarios.scenarios import load_scenario

COMMAND = ("compare", "steady-5-18", "--cca", "cubic,bbr", "--runs", "3", "--duration", "2s")


class Own(ct.CongestionControl):
    """Counts reports, for each of which a thread of the engine takes the GIL."""

    name = "test-events"
    interval = "100ms"
    reports = 0

    def report(self, report: ct.Report) -> ct.Decision | None:
        Own.reports += report.cause != ""
        return None


class Slow(logging.Handler):
    """Keeps records, and lets other threads of Python run meanwhile."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        time.sleep(0.3)
        self.texts.append(record.getMessage())


@pytest.fixture
def slow() -> Iterator[Slow]:
    """A slow handler of all events."""
    handler = Slow()
    events = logging.getLogger("celltcp.events")
    level = events.level
    events.setLevel(logging.INFO)
    events.addHandler(handler)
    log_events()
    yield handler
    events.removeHandler(handler)
    events.setLevel(level)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_verbose_prints_the_beginning_and_the_end_of_each_run(celltcp, jobs: str) -> None:
    done = celltcp(*COMMAND, "--jobs", jobs, "-v")
    assert done.returncode == 0
    runs = {f"scenario steady-5-18, cca {cca}, seed {n}" for cca in ("cubic", "bbr") for n in (1, 2, 3)}
    for event in ("begin", "end"):
        matches = re.findall(rf"^\d\d:\d\d:\d\d {event}: (.*), engine native$", done.stderr, re.M)
        assert len(matches) == 6
        assert set(matches) == runs
    assert celltcp(*COMMAND, "--jobs", jobs).stdout == done.stdout


def test_without_verbose_there_are_no_events(celltcp) -> None:
    assert "begin" not in celltcp(*COMMAND).stderr


def test_verbose_says_how_a_trace_was_read(celltcp, tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("time_s,mbps\n0,5\n9,10\n")
    done = celltcp("run", "x.csv", "-v", "--cca", "cubic", "--duration", "2s", "--out", "a")
    assert re.search(r"^\d\d:\d\d:\d\d .*x\.csv: read as ", done.stderr, re.M), done.stderr


def test_verbose_leaves_warnings_as_they_are(celltcp, tmp_path: Path) -> None:
    celltcp("run", "drive", "--cca", "cubic", "--duration", "2s", "--out", "a")
    (tmp_path / "a" / "celltcp.json").unlink()
    done = celltcp("show", "a", "-v", "--format", "csv")
    assert re.search("^warning: a: has no celltcp.json", done.stderr, re.M), done.stderr


def test_threads_of_a_comparison_wait_for_no_handler(slow: Slow) -> None:
    ct.register(Own)
    ct.compare("steady-5-18", ["cubic", "test-events"], 2, duration="2s", jobs=2)
    assert Own.reports > 0
    assert sorted(text.split(":")[0] for text in slow.texts) == ["begin"] * 4 + ["end"] * 4


def test_a_run_that_logs_can_be_asked_meanwhile(slow: Slow) -> None:
    run = Run(load_scenario("steady-5-18", changes=["duration=2s"]).with_cca("cubic"), 1)
    ended = threading.Thread(target=run.finish, daemon=True)
    ended.start()
    while ended.is_alive():
        with suppress(CelltcpError):  # It is over.
            run.take_samples()
    assert [text.split(":")[0] for text in slow.texts] == ["begin", "end"]
