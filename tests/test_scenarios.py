"""Scenarios: built in, printed, described by a schema."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import celltcp as ct
from celltcp._core import scenario_schema


@pytest.mark.parametrize("name", ct.scenario_names())
def test_what_is_printed_is_complete_valid_and_read_back(tmp_path: Path, name: str) -> None:
    loaded = ct.load_scenario(name)
    text = loaded.to_toml()
    jsonschema.validate(tomllib.loads(text), json.loads(scenario_schema()))
    assert loaded.name == name
    assert "min_rto" in text
    assert text.count("#") > 40
    (tmp_path / "again.toml").write_text(text)
    again = ct.load_scenario(tmp_path / "again.toml")
    assert again.hash == loaded.hash


def test_one_with_a_file_beside_it_is_printed_whole_and_overridden_from_the_working_directory(
    celltcp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = celltcp("scenarios", "vehicular/scenario-3").stdout
    phone, car = tomllib.loads(text)["radio"]["ues"]
    trace = Path(phone["sumo"]["ns2"])
    assert trace.is_absolute()
    assert trace.name == "motorway.tcl"
    assert car["sumo"]["ns2"] == phone["sumo"]["ns2"]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.tcl").write_text(trace.read_text())
    mine = ct.load_scenario("vehicular/scenario-3", changes={"radio.ues.0.sumo.ns2": "mine.tcl"})
    assert json.loads(mine.to_json())["radio"]["ues"][0]["sumo"]["ns2"] == "mine.tcl"


def test_the_list_is_grouped_by_folder_and_a_folder_can_be_listed(celltcp) -> None:
    groups = celltcp("scenarios").stdout.split("\n\n")
    names = [[line.split()[0] for line in group.splitlines()] for group in groups]
    assert [name for group in names for name in group] == ct.scenario_names()
    assert "drive" in names[0]
    assert all(len({name.rpartition("/")[0] for name in group}) == 1 for group in names)
    mobility = [line.split()[0] for line in celltcp("scenarios", "mobility").stdout.splitlines()]
    speeds, latencies = (60, 120, 300), ("4g", "low")
    ways = [(way, v, at) for way in ("backward", "forward") for v in speeds for at in latencies]
    assert sorted(mobility) == sorted(f"mobility/{way}-{v}-{at}" for way, v, at in ways)


def test_a_variant_changes_fields_and_the_name(celltcp) -> None:
    default = ct.load_scenario("mobility/forward-60-4g")
    assert ct.load_scenario("mobility/forward-60-4g@aeroflex").hash == default.hash
    other = ct.load_scenario("mobility/forward-60-4g@ns3", duration="2s")
    assert other.name == "mobility/forward-60-4g@ns3"
    assert json.loads(other.to_json())["radio"]["rlc"]["buffer"] == "750packets"
    assert json.loads(default.to_json())["radio"]["rlc"]["buffer"] == "110packets"
    assert "NAME@ns3" in celltcp("scenarios", "mobility").stderr
    for name, allowed in (
        ("mobility/forward-60-4g@elsewhere", "mobility/forward-60-4g@ns3"),
        ("drive@ns3", "drive without a variant"),
    ):
        refused = celltcp("run", name)
        assert refused.returncode == 2
        assert allowed in refused.stderr


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_motorway_has_the_loss_of_the_text_or_of_the_figures(number: int) -> None:
    name = f"vehicular/scenario-{number}"
    losses = [
        json.loads(ct.load_scenario(f"{name}{variant}").to_json())["path"]["wired"][0]["loss"]
        for variant in ("", "@as-written", "@as-measured")
    ]
    assert losses == [0.0001, 0.0001, 0.006]


@pytest.mark.parametrize("movement", ["forward", "backward"])
def test_the_least_rtt_at_low_latency_is_that_of_the_testbed(movement: str) -> None:
    # atxutegi2018-thesis section 4.4.4: 18 ms, radio included.
    result = ct.compare(f"mobility/{movement}-60-low", cca="bbr", runs=2)
    assert result.runs["rtt_min_ms"].min() == pytest.approx(18, abs=0.5)


def test_the_shell_completes_names_and_files() -> None:
    from click.shell_completion import ShellComplete

    from celltcp.cli import celltcp as command

    complete = ShellComplete(command, {}, "celltcp", "_CELLTCP_COMPLETE").get_completions
    found = {(item.value, item.type) for item in complete(["compare"], "mobility/forward-300")}
    assert found == {
        ("mobility/forward-300", "file"),
        ("mobility/forward-300-4g", "plain"),
        ("mobility/forward-300-low", "plain"),
    }


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
