"""The best congestion controls under both engines."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from celltcp import CelltcpError
from celltcp.campaign.engines import Engine
from celltcp.campaign.run_settings import RunSettings
from celltcp.selection.checkpoint import Checkpoint
from celltcp.selection.engine_agreement import Overlap, overlap_request


@pytest.fixture(scope="module")
def overlap(linux: Engine) -> Overlap:
    assert linux.kernel is not None
    return overlap_request(
        "steady-20-68,mobility/backward-300-low",
        "goodput,delay",
        RunSettings(
            cca="cubic,vegas,bbr",
            runs=2,
            kernel=linux.kernel.version,
            changes={"duration": "8s"},
        ),
    ).run()


def test_engines_meet_the_same_seeds(overlap: Overlap) -> None:
    seeds = overlap.runs.groupby(["engine", "scenario", "label"])["seed"].apply(list)
    assert len(seeds) == 2 * 2 * 3
    assert all(each == [1, 2] for each in seeds)
    assert len(overlap.standings) == 2 * 2 * 2 * 3


def test_both_engines_find_who_keeps_the_queue_short(overlap: Overlap) -> None:
    """CUBIC fills the buffer of a steady link, Vegas and BBR do not."""
    cases = overlap.cases.set_index(["scenario", "requirement"])
    steady = cases.loc[("steady-20-68", "delay")]
    assert steady["overlap"]
    assert "cubic" not in [*steady["native"], *steady["kernel"]]
    assert len(cases) == 4


def test_the_command_prints_the_share_and_keeps_tables(celltcp, linux: Engine, tmp_path: Path) -> None:
    done = celltcp(
        "select", "compare-engines", "--scenarios", "steady-20-68", "--runs", "2",
        "--cca", "cubic,vegas", "--requirement", "delay", "--set", "duration=5s",
        "--out", "out", "--json", "outcome.json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert linux.kernel is not None
    lines = done.stdout.splitlines()
    document = json.loads((tmp_path / "outcome.json").read_text())
    overlapping = sum(case["overlap"] for case in document["cases"])
    assert lines[-1].endswith(f"overlap in {overlapping} of 1 cases, {100 * overlapping} %")
    assert linux.kernel.version in lines[-1]
    assert max(len(line) for line in lines[:-1]) <= 120
    kept = {file.stem: pq.read_table(file).num_rows for file in (tmp_path / "out").glob("*.parquet")}
    assert set(kept) == {"runs", "standings", "cases", "differences", "summary"}
    assert (kept["runs"], kept["standings"], kept["cases"]) == (8, 4, 1)


def test_an_interrupted_campaign_goes_on_where_it_stopped(
    linux: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert linux.kernel is not None
    short = RunSettings(cca="cubic,reno", runs=1, changes={"duration": "2s"}, out=tmp_path)

    def again() -> dict[str, object]:
        return overlap_request("steady-20-68", "goodput", short).run().to_json()

    whole = again()
    assert not (tmp_path / "finished").exists()
    monkeypatch.setattr(Checkpoint, "clear", lambda _self: None)
    again()
    started: list[int] = []
    monkeypatch.setattr("celltcp.selection.scenario_runs.run_jobs", lambda *_a, **_k: started.append(1))
    assert again() == whole
    assert not started


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        ({"cca": "cubic"}, "'cubic' alone is always best"),
        ({"cca": "cubic,ledbat"}, "does not have 'ledbat'"),
        ({"cca": "cubic,auto"}, "'auto' is no fixed CCA"),
        ({"requirement": "fun"}, "goodput, balanced"),
        ({"requirement": ""}, "requirement: give one"),
        ({"scenarios": "nowhere/*"}, "'nowhere/\\*' matches"),
        ({"kernel": "0.1"}, "0.1"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    linux: Engine, tmp_path: Path, arguments: dict[str, str], part: str
) -> None:
    assert linux.kernel is not None
    given = {"scenarios": "steady-20-68", "requirement": "goodput,balanced,delay", **arguments}
    cases = [given.pop(name) for name in ("scenarios", "requirement")]
    with pytest.raises(CelltcpError, match=part):
        overlap_request(*cases, RunSettings(**{"cca": "all", "out": tmp_path, **given}))
    assert not list(tmp_path.iterdir())
