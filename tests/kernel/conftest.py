"""Tests on a kernel: `make test-kernel` builds one and runs them, `make test` leaves them out."""

from __future__ import annotations

import os

import pytest

from celltcp.campaign.engines import Engine, engine


@pytest.fixture(scope="session")
def linux() -> Engine:
    """The kernel engine with the newest kernel that is built."""
    if "CELLTCP_KERNEL_TESTS" not in os.environ:
        pytest.skip("make test-kernel runs it")
    return engine("kernel")
