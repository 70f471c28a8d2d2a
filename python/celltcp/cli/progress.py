"""Progress: a bar on a terminal that counts runs, and lines with --verbose elsewhere."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from celltcp.cli.verbosity import is_quiet, is_verbose

if TYPE_CHECKING:
    from rich.progress import TaskID

#: Seconds between lines of progress.
_BETWEEN_S = 5.0


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[float], None] | None]:
    """Gives what to call with the share that is done; None where nobody watches."""
    with stages_bar() as stages:
        yield (lambda share: stages(label, share)) if stages else None


@contextmanager
def stages_bar() -> Iterator[Callable[[str, float], None] | None]:
    """Shows a bar for work that has stages; yields the function to call with stage and share."""
    if is_quiet():
        yield None
    elif sys.stderr.isatty():
        with _bar() as told:
            yield told
    elif is_verbose():
        lines = _Lines()
        yield lines.told
        lines.end()
    else:
        yield None


@contextmanager
def _bar() -> Iterator[Callable[[str, float], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[counted]}"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=1.0, counted="")
            bar.update(tasks[stage], completed=share, counted=done_text(share))

        yield told


def done_text(share: float) -> str:
    """Returns how many runs are done of how many; the share where runs are not counted."""
    from celltcp.campaign.run import RunsDone
    from celltcp.scenarios.cca_mix import counted

    if isinstance(share, RunsDone):
        return f"{share.finished} of {counted(share.total, 'run')}"
    return f"{100 * share:.0f} %"


class _Lines:
    """Lines of progress, one every few seconds, and the time taken at the end."""

    def __init__(self) -> None:
        self._begun = self._stage_begun = self._told = time.monotonic()
        self._next = self._begun + _BETWEEN_S
        self._stage = self._last = ""

    def told(self, stage: str, share: float) -> None:
        now = time.monotonic()
        # A stage begins when the one before it was last heard of.
        if stage != self._stage:
            self._stage, self._stage_begun = stage, self._told
        self._told = now
        self._last = f"{stage}: {done_text(share)}"
        if now < self._next:
            return
        self._next = now + _BETWEEN_S
        left = (now - self._stage_begun) * (1 - share) / share if share > 0 else float("nan")
        click.echo(f"{self._last}, {left:.0f} s left" if left == left else self._last, err=True)

    def end(self) -> None:
        """Prints what was done in how many seconds."""
        if self._last:
            click.echo(f"{self._last} in {time.monotonic() - self._begun:.1f} s", err=True)
