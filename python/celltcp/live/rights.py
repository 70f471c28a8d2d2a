"""Privileges to create network namespaces, and to end programs of killed runs."""

from __future__ import annotations

import functools
import os

from celltcp._core import enter_user_namespace
from celltcp.live.run_folders import remove_left

#: Identities of runs removed by `acquire_rights`, until they are reported.
_removed: list[str] = []


@functools.cache
def acquire_rights() -> None:
    """Checks once that this process can create network namespaces.

    Root can. Any other user's process enters a user namespace, for which it must have one thread only.
    Before, it ends the programs of killed runs, since those of another user namespace are out of reach
    from within one.

    Raises:
        CelltcpError: if the kernel denies that.
    """
    if os.geteuid() != 0:
        _removed.extend(remove_left())
        enter_user_namespace()


def removed_runs() -> list[str]:
    """Ends the programs of killed runs, and removes their folders.

    Returns:
        The identities of these runs, with those before this process had its rights.
    """
    removed = [*_removed, *remove_left()]
    _removed.clear()
    return removed
