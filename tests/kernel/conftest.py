"""Tests on a built kernel: `make test-kernel` builds one, `make test` leaves them out without."""

from __future__ import annotations

import os

import pytest

from celltcp import CelltcpError
from celltcp.engines import Engine, engine


@pytest.fixture(scope="session")
def linux() -> Engine:
    """The kernel engine with the newest kernel that is built."""
    try:
        return engine("kernel")
    except CelltcpError as missing:
        if "CELLTCP_KERNEL_TESTS" in os.environ:
            raise
        pytest.skip(str(missing))
