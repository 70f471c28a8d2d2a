"""Progress of runs and builds: bars on a terminal, and lines elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from rich.progress import TaskID

    from celltcp.kernel.work import Report

#: Time between lines of progress, s.
_LINE_INTERVAL_S = 5.0


@contextmanager
def bar() -> Iterator[Callable[[str, float], None]]:
    """Shows a bar on the terminal; yields the function to call with stage and finished share."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[counted]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = bars.add_task(stage, total=1.0, counted="")
            bars.update(tasks[stage], completed=share, counted=done_text(share))

        yield report


def done_text(share: float) -> str:
    """Returns the numbers of finished and all runs; a share without these in per cent."""
    from celltcp.campaign.run import RunsDone
    from celltcp.scenarios.cca_mix import count_text

    if isinstance(share, RunsDone):
        return f"{share.finished} of {count_text(share.total, 'run')}"
    return f"{100 * share:.0f} %"


class ProgressLines:
    """Lines of progress, one every few seconds, and the elapsed time at the end."""

    def __init__(self) -> None:
        self._start_s = self._stage_start_s = self._last_report_s = time.monotonic()
        self._next_line_s = self._start_s + _LINE_INTERVAL_S
        self._stage = self._text = ""

    def report(self, stage: str, share: float) -> None:
        """Reports the finished share of a stage; prints a line if the last one is some seconds old."""
        now_s = time.monotonic()
        # A stage starts with the last report of the one before it.
        if stage != self._stage:
            self._stage, self._stage_start_s = stage, self._last_report_s
        self._last_report_s = now_s
        self._text = f"{stage}: {done_text(share)}"
        if now_s < self._next_line_s:
            return
        self._next_line_s = now_s + _LINE_INTERVAL_S
        left = ""
        if share > 0:
            left = f", {(now_s - self._stage_start_s) * (1 - share) / share:.0f} s left"
        click.echo(self._text + left, err=True)

    def end(self) -> None:
        """Prints the last report and the elapsed time."""
        if self._text:
            click.echo(f"{self._text} in {time.monotonic() - self._start_s:.1f} s", err=True)


@contextmanager
def build_progress(steps: list[str]) -> Iterator[Report]:
    """Shows the steps of a build on stderr, as bars on a terminal; `steps` gets their names."""
    if not sys.stderr.isatty():
        last_line = ""

        def print_step(step: str, _: float | None, detail: str) -> None:
            nonlocal last_line
            line = step if step == "compile" else f"{step}: {detail}"
            if line != last_line:
                steps.append(step)
                click.echo(line, err=True)
                last_line = line

        yield print_step
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description:<9}"),
        BarColumn(24),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True)) as bars:
        task = None

        def show(step: str, share: float | None, detail: str) -> None:
            nonlocal task
            if task is None or step not in steps:
                if task is not None:
                    bars.update(task, total=1.0, completed=1.0)
                    bars.stop_task(task)
                steps.append(step)
                task = bars.add_task(step, total=None, detail="")
            total = None if share is None else 1.0
            bars.update(task, total=total, completed=share or 0.0, detail=detail)

        yield show
        if task is not None:
            bars.update(task, total=1.0, completed=1.0)
