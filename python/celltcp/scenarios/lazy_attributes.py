"""Lazy attributes (`plot`) that a higher layer registers.

Results do not import plots: they declare `plot = LazyAttribute()`. `celltcp/__init__.py`, which imports
all layers, registers the function that computes it by `register_provider`.
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
    """Makes `provider` compute the attribute of that name, such as `"Comparison.plot"`."""
    _PROVIDERS[name] = provider
