"""Fields of scenarios in words, for tables of papers: `path.rtt` is the RTT."""

from __future__ import annotations

import re

#: Dotted name of a field, such as `path.wired.0.rate`.
_FIELD = re.compile(r"[a-z_]+(?:\.[a-z0-9_-]+)+")
#: Parts of names that say nothing more.
_TABLES = ("path", "tcp", "flows", "radio", "workload", "links")
#: Abbreviations, and words for parts of names.
_WORDS = {
    **{
        name: name.upper() for name in ("cca", "ecn", "mtu", "rlc", "rto", "rtt", "sack", "sinr", "tlp")
    },
    "down": "downlink",
    "loss": "loss rate",
    "max": "maximum",
    "min": "minimum",
    "queue": "queue discipline",
    "ues": "UE",
    "up": "uplink",
    "uplink_loss": "uplink loss rate",
    "wired": "hop",
}


def is_field(text: str) -> bool:
    """Returns whether a text is the dotted name of a field."""
    return _FIELD.fullmatch(text) is not None


def field_words(field: str) -> str:
    """Returns a field in words: `hop 0 rate` for `path.wired.0.rate`, `RTT` for `path.rtt`."""
    first, *parts = field.split(".")
    # The number of the only flow, or user, says nothing; that of a hop does.
    shown = [part for part in (first, *parts) if part not in _TABLES]
    if first == "flows" and shown[0] == "0":
        shown = shown[1:]
    words = (
        _WORDS.get(part) or " ".join(_WORDS.get(each, each) for each in part.split("_"))
        for part in shown
    )
    return " ".join(words)
