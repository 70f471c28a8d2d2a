"""Spelling of characters that a terminal may lack."""

from __future__ import annotations

import codecs
import io
import sys

#: What is printed in place of a character.
_SPELT = {"±": "+-", "µ": "u", "\u2013": "-", "…": "...", "\u00d7": "x"}


def ascii_fallback() -> None:
    """Lets output in ASCII and the like spell what it lacks, rather than fail after all runs."""

    def spelt(error: UnicodeError) -> tuple[str, int]:
        if not isinstance(error, UnicodeEncodeError):
            raise error
        lacking = error.object[error.start : error.end]
        return "".join(_SPELT.get(each, "?") for each in lacking), error.end

    codecs.register_error("celltcp-spell", spelt)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="celltcp-spell")
