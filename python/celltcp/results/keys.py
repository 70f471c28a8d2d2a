"""Keys: identifiers of runs, equal only for identical runs, in ranges of seeds."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Maximum length of a text in a file name that is not shortened.
_MAX_NAME_LENGTH = 100


@dataclass(frozen=True)
class KeyRange:
    """Keys that differ in the seed only, for consecutive seeds."""

    #: Text before the seed.
    prefix: str
    #: The first seed.
    first: int
    #: Number of seeds.
    count: int
    #: Text after the seed.
    suffix: str

    def __contains__(self, key: str) -> bool:
        if not (key.startswith(f"{self.prefix}-") and key.endswith(f"-{self.suffix}")):
            return False
        seed = key[len(self.prefix) + 1 : len(key) - len(self.suffix) - 1]
        return seed.isdecimal() and self.first <= int(seed) < self.first + self.count

    def __iter__(self) -> Iterator[str]:
        return map(self.key, range(self.first, self.first + self.count))

    def key(self, seed: int) -> str:
        """Returns the key of a seed."""
        return f"{self.prefix}-{seed}-{self.suffix}"

    def has(self, other: KeyRange) -> bool:
        """Returns whether all keys of another range are in this one."""
        has_same_texts = (self.prefix, self.suffix) == (other.prefix, other.suffix)
        end, other_end = self.first + self.count, other.first + other.count
        return has_same_texts and self.first <= other.first and other_end <= end


class Keys:
    """Keys of the runs of some results, in the order of the runs."""

    def __init__(self, ranges: Iterable[KeyRange]) -> None:
        """Sets the ranges of the keys."""
        self.ranges = tuple(ranges)

    @classmethod
    def from_about(cls, about: Mapping[str, Any]) -> Keys | None:
        """Returns the keys in the origin of results; None if it has no keys in this form."""
        try:
            return cls(
                KeyRange(str(prefix), int(first), int(count), str(suffix))
                for prefix, first, count, suffix in about["keys"]
            )
        except (KeyError, TypeError, ValueError):
            return None

    def __len__(self) -> int:
        return sum(key_range.count for key_range in self.ranges)

    def __contains__(self, key: str) -> bool:
        return any(key in key_range for key_range in self.ranges)

    def __iter__(self) -> Iterator[str]:
        return itertools.chain.from_iterable(self.ranges)

    def has(self, other: Keys) -> bool:
        """Returns whether all keys of another set are among these."""
        return all(any(own.has(key_range) for own in self.ranges) for key_range in other.ranges)

    def to_json(self) -> list[list[Any]]:
        """Returns the ranges as JSON, each a list of its prefix, first seed, count and suffix."""
        return [list(dataclasses.astuple(key_range)) for key_range in self.ranges]


def part_of_file_name(text: str) -> str:
    """Returns a text as part of the name of a file or folder, which has at most 255 bytes.

    A long text is cut, and ends in a digest of the whole text.
    """
    if len(text) <= _MAX_NAME_LENGTH:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[: _MAX_NAME_LENGTH - len(digest) - 1]}-{digest}"
