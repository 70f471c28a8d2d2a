"""Deprecation: warnings of former names of options, commands, and fields of scenarios."""

from __future__ import annotations

import functools
import logging
from collections.abc import Iterable


def warn_of_each(texts: Iterable[str]) -> None:
    """Prints warnings on standard error, each once in a process."""
    for text in texts:
        warn_deprecated(text)


@functools.cache
def warn_deprecated(text: str) -> None:
    """Prints a warning on standard error, each once in a process."""
    logging.getLogger("celltcp").warning("warning: %s", text)
