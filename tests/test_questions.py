"""Questions of users of other tools: the first table has the figure that is asked for."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq
import pytest

if TYPE_CHECKING:
    from conftest import Celltcp

QUESTIONS = next(
    (
        folder / "shared" / "cases" / "questions"
        for folder in Path(__file__).resolve().parents
        if (folder / "shared" / "cases" / "questions").is_dir()
    ),
    None,
)
pytestmark = pytest.mark.skipif(QUESTIONS is None, reason="the questions are in another repository")

Rows = Callable[[str], list[dict[str, Any]]]


def _completion(rows: Rows, _flow: int) -> str:
    (time_s,) = (row["completion_s"] for row in rows("flows"))
    return f"{time_s:.3f}"


def _goodput(rows: Rows, flow: int) -> str:
    """Payload of the slots over the time from the first data to the end of the run."""
    delivered = sum(row["delivered_bytes"] for row in rows("slots") if row["flow"] == flow)
    first = next(row["first_data_s"] for row in rows("flows") if row["flow"] == flow)
    (end,) = (row["duration_s"] for row in rows("runs"))
    return f"{delivered * 8e-6 / (end - first):.2f}"


def _response_p95(rows: Rows, flow: int) -> str:
    times = sorted(
        float(row["detail"])
        for row in rows("events")
        if row["flow"] == flow and row["kind"] == "response_s"
    )
    p95 = times[math.ceil(0.95 * len(times)) - 1]
    return f"{p95:.3f} or {1e3 * p95:.1f}"


def _late_share(deadline_ms: float) -> Callable[[Rows, int], str]:
    def share(rows: Rows, flow: int) -> str:
        events = [row for row in rows("events") if row["flow"] == flow]
        delays = [float(row["detail"]) for row in events if row["kind"] == "frame_ms"]
        (sent,) = (float(row["detail"]) for row in events if row["kind"] == "frames")
        in_time = sum(delay <= deadline_ms for delay in delays)
        return f"{100 * (1 - in_time / sent):.2f}"

    return share


@pytest.mark.parametrize(
    ("question", "seconds", "cca", "flow", "figure"),
    [
        ("q1", 60, "bbr", 0, _completion),
        ("q3", 8, "cubic", 0, _goodput),
        ("q5", 6, "cubic", 1, _response_p95),
        ("q6", 12, "cubic", 0, _late_share(500)),
        ("q7", 40, "cubic", 0, _response_p95),
        ("q7b", 40, "cubic", 0, _late_share(150)),
        ("q10", 12, "reno", 1, _response_p95),
        ("q12", 10, "cubic", 1, _response_p95),
        ("q14", 2, "reno", 0, _goodput),
    ],
)
def test_the_first_table_has_the_figure_that_is_asked_for(
    question: str,
    seconds: int,
    cca: str,
    flow: int,
    figure: Callable[[Rows, int], str],
    celltcp: Celltcp,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert QUESTIONS is not None
    monkeypatch.setenv("COLUMNS", "240")
    file = str(QUESTIONS / f"{question}.toml")
    options = ("--cca", cca, "--runs", "1", "--duration", f"{seconds}s", "--out", "o")
    done = celltcp("compare", file, *options)
    assert done.returncode == 0, done.stderr
    wanted = figure(lambda table: pq.read_table(tmp_path / "o" / f"{table}.parquet").to_pylist(), flow)
    first_table = done.stdout[: done.stdout.index("\N{BOX DRAWINGS LIGHT UP AND RIGHT}")]
    cells = [cell.strip() for cell in first_table.split("\N{BOX DRAWINGS LIGHT VERTICAL}")]
    # Times below a second are in ms beside some below 100 ms.
    assert {*wanted.split(" or ")} & {*cells}, first_table
