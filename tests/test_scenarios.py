"""Scenarios: built in, printed, described by a schema."""

import json
import tomllib
from pathlib import Path

import jsonschema
import pytest

import celltcp as ct
from celltcp._core import scenario_schema
from celltcp.scenarios.scenario_files import LIBRARY, read_scenario
from celltcp.scenarios.scenario_list import expand_scenarios


@pytest.fixture(scope="module")
def schema() -> jsonschema.Draft202012Validator:
    """The JSON schema of scenarios."""
    document = json.loads(scenario_schema())
    jsonschema.Draft202012Validator.check_schema(document)
    return jsonschema.Draft202012Validator(document)


@pytest.mark.parametrize("name", ct.scenario_names())
def test_what_is_printed_is_complete_valid_and_read_back(
    tmp_path: Path, name: str, schema: jsonschema.Draft202012Validator
) -> None:
    loaded = ct.load_scenario(name)
    text = loaded.to_toml()
    schema.validate(tomllib.loads(text))
    assert loaded.name == name
    assert "min_rto" in text
    assert text.count("#") > 40
    (tmp_path / "again.toml").write_text(text)
    again = ct.load_scenario(tmp_path / "again.toml")
    assert again.hash == loaded.hash


def test_a_file_of_the_library_is_named_from_its_folder_and_overridden_from_the_working_directory(
    celltcp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = celltcp("scenarios", "vehicular/scenario-3").stdout
    phone, car = tomllib.loads(text)["radio"]["ues"]
    assert phone["sumo"]["ns2"] == car["sumo"]["ns2"] == "vehicular/motorway.tcl"
    loaded = ct.load_scenario("vehicular/scenario-3")
    monkeypatch.chdir(tmp_path)
    assert ct.load_scenario("vehicular/scenario-3").hash == loaded.hash
    (tmp_path / "printed.toml").write_text(text)
    assert ct.load_scenario("printed.toml").hash == loaded.hash
    (tmp_path / "mine.tcl").write_text((LIBRARY / "vehicular/motorway.tcl").read_text())
    mine = ct.load_scenario(loaded, changes={"radio.ues.0.sumo.ns2": str(tmp_path / "mine.tcl")})
    assert mine.hash != loaded.hash
    for name in ("vehicular/scenario-3", "printed.toml"):
        mine = ct.load_scenario(name, changes={"radio.ues.0.sumo.ns2": "mine.tcl"})
        phone, car = json.loads(mine.to_json())["radio"]["ues"]
        assert phone["sumo"]["ns2"] == "mine.tcl"
        assert car["sumo"]["ns2"] == "vehicular/motorway.tcl"


def test_a_file_beside_a_scenario_goes_before_one_of_the_library(celltcp, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(celltcp("scenarios", "vehicular/scenario-3").stdout)
    (tmp_path / "vehicular").mkdir()
    (tmp_path / "vehicular/motorway.tcl").write_text("no trace")
    refused = celltcp("run", str(file))
    assert refused.returncode == 2
    assert f"{tmp_path}/vehicular/motorway.tcl" in refused.stderr


def test_results_hold_no_path_of_the_library(
    celltcp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = celltcp(
        "compare", "vehicular/scenario-3", "--cca", "reno", "--runs", "1", "--duration", "1s",
        "--out", "kept", "--json", "all.json",
    )  # fmt: skip
    assert made.returncode == 0
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert len(files) > 4
    for file in files:
        assert str(LIBRARY).encode() not in file.read_bytes(), file
    kept = ct.load(tmp_path / "kept").results.about
    monkeypatch.chdir(tmp_path)
    assert read_scenario(kept["scenario"], "kept", tmp_path).hash == kept["hash"]


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


@pytest.mark.parametrize("pattern", ["stress/loss-*", "short/100k@*", "thesis36"])
def test_patterns_and_sets_list_the_scenarios_that_comparisons_run(celltcp, pattern: str) -> None:
    from celltcp.scenarios.scenario_list import expand_scenarios

    listed = [line.split()[0] for line in celltcp("scenarios", pattern).stdout.splitlines() if line]
    assert listed == [each.name for each in expand_scenarios(pattern).sources]
    assert len(listed) > 3


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


def test_variants_of_several_axes_are_combined(celltcp) -> None:
    near = ct.load_scenario("short/1m@5mbps+20ms+half-bdp")
    assert near.name == "short/1m@5mbps+20ms+half-bdp"
    path = json.loads(near.to_json())["path"]
    assert (path["rtt"], path["down"]["rate"], path["buffer"]) == ("20ms", "5Mbit/s", "0.5bdp")
    assert ct.load_scenario("short/1m@60ms+20mbps+750p").hash == ct.load_scenario("short/1m").hash
    for variant in ("20ms+60ms", "20ms+20ms", "20ms+far", "20ms+"):
        refused = celltcp("run", f"short/1m@{variant}")
        assert refused.returncode == 2
        assert "short/1m@half-bdp, short/1m@750p" in refused.stderr
        assert "one each of rtt, rate, buffer joined by +" in refused.stderr
    refused = celltcp("run", "mobility/forward-60-4g@ns3+aeroflex")
    assert (refused.returncode, "joined" in refused.stderr) == (2, False)


def test_sets_and_patterns_name_variants() -> None:
    def names(given: str) -> list[str]:
        return [source.name for source in expand_scenarios(given).sources]

    assert len(set(names("short"))) == 81
    assert names("short/100k@150ms+5mbps+*") == [
        f"short/100k@150ms+5mbps+{buffer}" for buffer in ("half-bdp", "750p", "3000p")
    ]
    assert len(names("mobility/*@ns3")) == 12


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
    result = {(item.value, item.type) for item in complete(["compare"], "mobility/forward-300")}
    assert result == {
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


def test_all_fields_are_printed_with_their_meanings(celltcp) -> None:
    printed = celltcp("scenarios", "--fields").stdout
    for field in ("gilbert-elliott-time", "| backlog |", "| deadline |", "| notsent_lowat |"):
        assert field in printed
    workloads = celltcp("scenarios", "workload", "--fields").stdout
    assert workloads.startswith('### Workload, kind = "bulk"')
    assert '### Workload, kind = "page"' in workloads
    assert "### Path" not in workloads
    assert celltcp("scenarios", "--fields", "flows").stdout.startswith("### Flow\n")
    for field, heading in {
        "path.down": "Capacity",
        "flows.0.workload": 'Workload, kind = "bulk"',
        "path.rtt": "Path",
        "radio.ues.0.sinr": "Sinr",
    }.items():
        assert celltcp("scenarios", field, "--fields").stdout.startswith(f"### {heading}\n")
    refused = celltcp("scenarios", "drive", "--fields")
    assert refused.returncode == 2
    assert "there is no section 'drive'; allowed: Variation, Path, " in refused.stderr
