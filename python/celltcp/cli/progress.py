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

#: Seconds between lines of progress.
_LINE_INTERVAL_S = 5.0


@contextmanager
def bar() -> Iterator[Callable[[str, float], None]]:
    """Shows a bar on the terminal; yields the function to call with stage and share."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[counted]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        tasks: dict[str, TaskID] = {}

        def report(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = shown.add_task(stage, total=1.0, counted="")
            shown.update(tasks[stage], completed=share, counted=done_text(share))

        yield report


def done_text(share: float) -> str:
    """Returns the numbers of finished and all runs; the share where runs are not counted."""
    from celltcp.campaign.run import RunsDone
    from celltcp.scenarios.cca_mix import count_text

    if isinstance(share, RunsDone):
        return f"{share.finished} of {count_text(share.total, 'run')}"
    return f"{100 * share:.0f} %"


class Lines:
    """Lines of progress, one every few seconds, and the elapsed time at the end."""

    def __init__(self) -> None:
        self._begun = self._stage_begun = self._told = time.monotonic()
        self._next = self._begun + _LINE_INTERVAL_S
        self._stage = self._last = ""

    def report(self, stage: str, share: float) -> None:
        """Reports the finished share of a stage: prints a line if the last one was long ago."""
        now = time.monotonic()
        # A stage begins with the last report of the one before it.
        if stage != self._stage:
            self._stage, self._stage_begun = stage, self._told
        self._told = now
        self._last = f"{stage}: {done_text(share)}"
        if now < self._next:
            return
        self._next = now + _LINE_INTERVAL_S
        left = (now - self._stage_begun) * (1 - share) / share if share > 0 else float("nan")
        click.echo(f"{self._last}, {left:.0f} s left" if left == left else self._last, err=True)

    def end(self) -> None:
        """Prints a finished step and its duration."""
        if self._last:
            click.echo(f"{self._last} in {time.monotonic() - self._begun:.1f} s", err=True)


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

        def show(step: str, done: float | None, detail: str) -> None:
            nonlocal task
            if task is None or step not in steps:
                if task is not None:
                    bars.update(task, total=1.0, completed=1.0)
                    bars.stop_task(task)
                steps.append(step)
                task = bars.add_task(step, total=None, detail="")
            bars.update(task, total=None if done is None else 1.0, completed=done or 0.0, detail=detail)

        yield show
        if task is not None:
            bars.update(task, total=1.0, completed=1.0)
