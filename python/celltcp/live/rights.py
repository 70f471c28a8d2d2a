"""Privileges to create network namespaces, and to end programs of killed runs."""

from __future__ import annotations

import functools
import os

from celltcp._core import enter_user_namespace
from celltcp.live.run_folders import remove_killed_runs

#: Identities of runs that `acquire_rights` removed, until `removed_runs` returns them.
_removed: list[str] = []


@functools.cache
def acquire_rights() -> None:
    """Gives this process the privilege to create network namespaces; has an effect only once.

    Root has it. The process of another user enters a user namespace, so it must have a single thread.
    Before that it ends the programs of killed runs, because a user namespace cannot signal programs of
    another one.

    Raises:
        CelltcpError: if the kernel does not permit a user namespace.
    """
    if os.geteuid() != 0:
        _removed.extend(remove_killed_runs())
        enter_user_namespace()


def removed_runs() -> list[str]:
    """Ends the programs of killed runs, and removes their folders.

    Returns:
        The identities of these runs, and of those that `acquire_rights` removed.
    """
    removed = [*_removed, *remove_killed_runs()]
    _removed.clear()
    return removed
