"""Keys: identifiers of runs, equal only for identical runs, in ranges of seeds."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

#: Maximum length of a text that a file name has as it is.
_MAX_NAME_LENGTH = 100


@dataclass(frozen=True)
class KeyRange:
    """Keys that differ in the seed only, for consecutive seeds."""

    #: Text before the seed.
    before: str
    #: The first seed.
    first: int
    #: Number of seeds.
    count: int
    #: Text after the seed.
    after: str

    def __contains__(self, key: str) -> bool:
        if not (key.startswith(f"{self.before}-") and key.endswith(f"-{self.after}")):
            return False
        seed = key[len(self.before) + 1 : len(key) - len(self.after) - 1]
        return seed.isdecimal() and self.first <= int(seed) < self.first + self.count

    def __iter__(self) -> Iterator[str]:
        return (self.key(self.first + each) for each in range(self.count))

    def key(self, seed: int) -> str:
        """Returns the key of a seed."""
        return f"{self.before}-{seed}-{self.after}"

    def has(self, other: KeyRange) -> bool:
        """Returns whether all keys of another range are in this one."""
        same = (self.before, self.after) == (other.before, other.after)
        last, other_last = self.first + self.count, other.first + other.count
        return same and self.first <= other.first and other_last <= last


class Keys:
    """Keys of the runs of some results, in the order of the runs."""

    def __init__(self, ranges: Iterable[KeyRange]) -> None:
        """Sets the ranges of the keys."""
        self.ranges = tuple(ranges)

    @classmethod
    def from_meta(cls, about: Mapping[str, Any]) -> Keys | None:
        """Returns the keys that the origin of results has; None where it has none in this form."""
        try:
            return cls(
                KeyRange(str(before), int(first), int(count), str(after))
                for before, first, count, after in about["keys"]
            )
        except (KeyError, TypeError, ValueError):
            return None

    def __len__(self) -> int:
        return sum(each.count for each in self.ranges)

    def __contains__(self, key: str) -> bool:
        return any(key in each for each in self.ranges)

    def __iter__(self) -> Iterator[str]:
        return (key for each in self.ranges for key in each)

    def has(self, other: Keys) -> bool:
        """Returns whether all keys of another set are among these."""
        return all(any(mine.has(each) for mine in self.ranges) for each in other.ranges)

    def to_json(self) -> list[list[Any]]:
        """Returns the ranges as JSON: text before the seed, first seed, number, text after the seed."""
        return [[each.before, each.first, each.count, each.after] for each in self.ranges]


def part_of_file_name(text: str) -> str:
    """Returns a text as part of the name of a file or folder, which has at most 255 bytes.

    A long one goes by its begin and a digest of all of it.
    """
    if len(text) <= _MAX_NAME_LENGTH:
        return text
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    return f"{text[: _MAX_NAME_LENGTH - len(digest) - 1]}-{digest}"
