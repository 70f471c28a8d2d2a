"""Lazy attributes (`plot`) that a higher layer registers.

Results know no plots. They declare `plot = LazyAttribute()`, and `celltcp/__init__.py`, which knows all
layers, says by `register_provider` what makes it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

_PROVIDERS: dict[str, Callable[[Any], Any]] = {}


class LazyAttribute:
    """Attribute computed by the provider that is registered for its class and name."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"{owner.__name__}.{name}"

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Returns the value for the object, or the attachment itself for the class."""
        return self if instance is None else _PROVIDERS[self._name](instance)


def register_provider(name: str, provider: Callable[[Any], Any]) -> None:
    """Makes `provider` compute the attribute of that name, such as `"Comparison.plot"`."""
    _PROVIDERS[name] = provider
