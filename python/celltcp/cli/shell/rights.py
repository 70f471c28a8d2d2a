"""Rights of commands that create network namespaces."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def with_rights(command: Callable[..., Any]) -> Callable[..., Any]:
    """Acquires the rights of a command before it imports modules that start threads."""

    @functools.wraps(command)
    def call(*args: Any, **kwargs: Any) -> Any:
        from celltcp.live.rights import acquire_rights

        acquire_rights()
        return command(*args, **kwargs)

    return call
