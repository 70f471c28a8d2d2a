"""Build: the programs of the house share what is compiled."""

from __future__ import annotations

import itertools
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest

#: Packages that `make setup` and `make counts` build, each by a command of its own.
_PROGRAMS = (
    "celltcp-python-bindings",
    "celltcp-kernel-network",
    "celltcp-kernel-guest",
    "celltcp-counts",
)
_ROOT = Path(__file__).parents[1]


def _features(program: str) -> dict[str, set[str]]:
    """Returns the sets of features with which each library is compiled, by its name and version."""
    command = ["cargo", "tree", "--locked", "--edges", "normal,build", "--prefix", "none"]
    printed = subprocess.run(
        [*command, "--package", program, "--format", "{p}|{f}"],
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    result: dict[str, set[str]] = defaultdict(set)
    for line in printed.splitlines():
        package, _, features = line.removesuffix(" (*)").partition("|")
        result[package].add(features)
    return result


@pytest.mark.skipif(not (_ROOT / "Cargo.lock").is_file(), reason="no sources of the programs here")
def test_no_library_is_compiled_again_with_other_features_for_another_program() -> None:
    """crates/base/features names what is missing in one of them."""
    programs = {program: _features(program) for program in _PROGRAMS}
    again = [
        (library, one, other)
        for (one, first), (other, second) in itertools.combinations(programs.items(), 2)
        for library in first.keys() & second.keys()
        # A library of a macro may be there as well, with features of its own.
        if not (first[library] <= second[library] or second[library] <= first[library])
    ]
    assert again == []
