"""Deprecation: warnings of former names of options, commands, and fields of scenarios."""

from __future__ import annotations

import functools
import logging


@functools.cache
def warn_deprecated(text: str) -> None:
    """Prints a warning on standard error, each once in a process."""
    logging.getLogger("celltcp").warning("warning: %s", text)
