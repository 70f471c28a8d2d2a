"""Results on a Linux kernel that stay, hashed by column."""

from __future__ import annotations

import pytest

from celltcp.campaign.engines import Engine
from digests import digest, read
from digests.cases import KERNEL, Case


@pytest.mark.parametrize("case", KERNEL, ids=lambda case: case.name)
def test_every_column_of_a_kernel_run_is_as_kept(linux: Engine, case: Case) -> None:
    if linux.kernel is None or not linux.kernel.version.startswith("7.3"):
        pytest.skip("the digests are those of Linux 7.3")
    expected = read("kernel")[case.name]
    result = digest(case, linux)
    same = {
        name: {column: result[name].get(column, "is gone") for column in columns}
        for name, columns in expected.items()
    }
    assert same == expected
