"""Digests: tables of runs of every family of scenarios and CCAs, hashed by column."""

from __future__ import annotations

import pytest

from celltcp._core import builtin_policies, native_ccas
from celltcp.campaign.engines import engine
from celltcp.scenarios.ccas import source_digests
from digests import digest, read
from digests.cases import NATIVE, Case


@pytest.mark.parametrize("case", NATIVE, ids=lambda case: case.name)
def test_every_column_of_a_native_run_is_as_kept(case: Case) -> None:
    expected = read("native")[case.name]
    result = digest(case, engine())
    # Columns and tables may be added; those that are kept stay as they are.
    same = {
        name: {column: result[name].get(column, "is gone") for column in columns}
        for name, columns in expected.items()
    }
    assert same == expected


def test_the_cases_have_every_congestion_control_and_policy() -> None:
    words = " ".join(case.cca for case in NATIVE)
    chosen = {*words.replace("+", " ").replace("=", " ").replace(",", " ").split()}
    switched = {"reno", "bbr", "vegas", "cubic"}
    # Tests of own CCAs that ran in this process have added theirs.
    own = {name for name in native_ccas() if source_digests([name])}
    assert set(native_ccas()) - own <= chosen | switched
    assert {f"policy={name}" in words or name == "default" for name in builtin_policies()} == {True}
