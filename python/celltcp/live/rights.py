"""Rights: those to create network namespaces."""

from __future__ import annotations

import functools
import os

from celltcp._core import enter_user_namespace


@functools.cache
def acquire_rights() -> None:
    """Makes sure, once, that this process can create network namespaces.

    Root can. Any other user's process enters a user namespace, for which it must have one thread only.

    Raises:
        CelltcpError: if the kernel refuses that.
    """
    if os.geteuid() != 0:
        enter_user_namespace()
