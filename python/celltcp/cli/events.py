"""Events of runs on standard error: the last ones show where a run hangs."""

from __future__ import annotations

import logging
import sys

from celltcp._core import log_events


class _Stderr(logging.Handler):
    """Prints records on the standard error of the moment, which a progress bar may have replaced."""

    def emit(self, record: logging.LogRecord) -> None:
        print(self.format(record), file=sys.stderr, flush=True)


def print_events() -> None:
    """Prints each event from now on: its time, and the start or end of a task."""
    events = logging.getLogger("celltcp.events")
    if not events.handlers:
        handler = _Stderr()
        handler.setFormatter(logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
        events.addHandler(handler)
        events.setLevel(logging.INFO)
    log_events()
