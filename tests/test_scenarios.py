"""Scenarios: built in, printed, described by a schema."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import celltcp as ct
from celltcp._core import scenario_schema


@pytest.mark.parametrize("name", ct.scenario_names())
def test_what_is_printed_is_complete_valid_and_read_back(celltcp, tmp_path: Path, name: str) -> None:
    text = celltcp("scenarios", name).stdout
    jsonschema.validate(tomllib.loads(text), json.loads(scenario_schema()))
    assert "min_rto" in text
    assert text.count("#") > 40
    (tmp_path / "again.toml").write_text(text)
    again = ct.load_scenario(tmp_path / "again.toml")
    assert again.hash == ct.load_scenario(name).hash


def test_overrides_reach_any_field() -> None:
    changed = ct.load_scenario("drive", changes={"path.buffer": "2bdp", "tcp.initial_window": 20})
    assert json.loads(changed.to_json())["tcp"]["initial_window"] == 20
    assert changed.hash != ct.load_scenario("drive").hash


def test_import_and_help_load_nothing_heavy(celltcp) -> None:
    import subprocess
    import sys

    modules = (
        "import celltcp, sys; print([m for m in ('pandas', 'matplotlib', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", modules], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    assert "compare" in celltcp("--help").stdout
