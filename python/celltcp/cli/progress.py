"""A progress bar, where somebody watches."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import TaskID


@contextmanager
def progress_bar(label: str) -> Iterator[Callable[[float], None] | None]:
    """Gives what to call with the share that is done; None where standard error is no terminal."""
    with stages_bar() as stages:
        yield (lambda share: stages(label, share)) if stages else None


@contextmanager
def stages_bar() -> Iterator[Callable[[str, float], None] | None]:
    """The same for work that has stages: gives what to call with the stage and the share of it."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, TaskID] = {}

        def told(stage: str, share: float) -> None:
            if stage not in tasks:
                tasks[stage] = bar.add_task(stage, total=1.0)
            bar.update(tasks[stage], completed=share)

        yield told
