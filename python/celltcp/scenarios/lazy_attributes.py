"""Lazy attributes (`plot`), which a higher layer computes.

Results cannot import plots, so they declare `plot = LazyAttribute()`. `celltcp/__init__.py`, which
imports all layers, calls `register_provider` with the function that computes it.
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
        """Returns the value for an instance, or the descriptor itself for the class."""
        return self if instance is None else _PROVIDERS[self._name](instance)


def register_provider(name: str, provider: Callable[[Any], Any]) -> None:
    """Registers the function that computes the attribute `name`, such as `"Comparison.plot"`."""
    _PROVIDERS[name] = provider
