"""Natural order of files: numbers in names count as numbers, so that t2 comes before t10."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

_NUMBER = re.compile(r"([0-9]+)")


def in_natural_order(files: Iterable[str | Path]) -> list[str]:
    """Returns the names of files, sorted folder by folder."""
    return sorted((str(file) for file in files), key=_sort_key)


def _sort_key(file: str) -> tuple[list[tuple[tuple[str, int], ...]], str]:
    parts = [_NUMBER.split(part) for part in Path(file).parts]
    # Texts and numbers alternate, a text first: a pair of both compares as the name does.
    pairs = [
        tuple((text, int(number)) for text, number in zip(part[::2], [*part[1::2], -1], strict=True))
        for part in parts
    ]
    return pairs, file
