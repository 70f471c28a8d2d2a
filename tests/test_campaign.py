"""Campaigns: chunks, shards, tables in folders, jobs in other processes."""

import pickle
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import celltcp as ct
from celltcp.campaign import run as campaign
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import Job, jobs_for
from celltcp.campaign.run import run_jobs


def _jobs(runs: int = 4) -> list[Job]:
    loaded = ct.load_scenario("steady-5-18", duration="1s")
    return jobs_for(loaded, ["cubic", "bbr"], runs, 1, engine())


def _same(first: dict, second: dict, *, labels: bool = True) -> None:
    """Both have the same tables, with the same lists of labels unless these do not matter."""
    assert list(first) == list(second)
    for name, table in first.items():
        pd.testing.assert_frame_equal(
            table.to_pandas(), second[name].to_pandas(), check_categorical=labels
        )


def _in_another_process(jobs: list[Job], folder: Path) -> dict:
    """The tables of jobs that were pickled, run in a process that knows nothing else of them."""
    (folder / "jobs").write_bytes(pickle.dumps(jobs))
    program = (
        "import pickle; from celltcp.campaign.run import run_jobs; "
        "tables = run_jobs(pickle.load(open('jobs', 'rb'))); "
        "pickle.dump(tables, open('tables', 'wb'))"
    )
    subprocess.run([sys.executable, "-c", program], cwd=folder, check=True)
    return pickle.loads((folder / "tables").read_bytes())


def test_a_pickled_job_has_the_same_tables_in_another_process(tmp_path: Path) -> None:
    jobs = _jobs(1)
    _same(run_jobs(jobs), _in_another_process(jobs, tmp_path))


def test_a_pickled_job_holds_its_traces_and_policies(
    celltcp, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert celltcp("traces", "generate", "x.down", "--mean", "10", "--duration", "20").returncode == 0
    (tmp_path / "mine.toml").write_text(celltcp("select", "policies", "rules").stdout)
    monkeypatch.chdir(tmp_path)
    loaded = ct.load_scenario("x.down", duration="3s")
    jobs = jobs_for(loaded, ["auto:policy=mine.toml"], 1, 1, engine())
    here = run_jobs(jobs)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    pickled = pickle.dumps(jobs)
    (tmp_path / "x.down").unlink()
    (tmp_path / "mine.toml").unlink()
    _same(here, _in_another_process(pickle.loads(pickled), elsewhere))


def test_a_pickled_scenario_is_the_same_scenario() -> None:
    for name in ct.scenario_names():
        loaded = ct.load_scenario(name)
        again = pickle.loads(pickle.dumps(loaded))
        assert again.hash == loaded.hash
        assert again.to_toml() == loaded.to_toml()


@pytest.mark.parametrize("runs", [1, 2, 5])
def test_tables_do_not_depend_on_chunks_and_threads(monkeypatch, runs: int) -> None:
    whole = run_jobs(_jobs(), workers=1)
    monkeypatch.setattr(campaign, "_MAX_CHUNK_RUNS", runs)
    _same(whole, run_jobs(_jobs(), workers=1))
    _same(whole, run_jobs(_jobs(), workers=3))


def test_what_an_interrupt_leaves_is_used_by_another_campaign(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(campaign, "_MAX_CHUNK_RUNS", 3)
    real = campaign.run_batch

    def breaks_after_two_chunks(chunks, threads, deliver, progress):
        real(chunks[:2], threads, deliver, progress)
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run_batch", breaks_after_two_chunks)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(_jobs(), folder=tmp_path)
    calls = []
    monkeypatch.setattr(
        campaign,
        "run_batch",
        lambda chunks, *rest: calls.extend(chunks) or real(chunks, *rest),
    )
    whole = run_jobs(_jobs(5))
    # Six runs are there: all four of CUBIC, two of BBR. Of five runs each, their numbers are others.
    calls.clear()
    _same(whole, run_jobs(_jobs(5), folder=tmp_path))
    assert sum(map(len, calls)) == 4
    assert not (tmp_path / "parts").exists()


def test_a_damaged_shard_is_run_again(tmp_path: Path, monkeypatch) -> None:
    real = campaign.run_batch

    def breaks_at_the_end(*everything):
        real(*everything)
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run_batch", breaks_at_the_end)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(_jobs(), folder=tmp_path)
    monkeypatch.setattr(campaign, "run_batch", real)
    (shard,) = (each for each in (tmp_path / "parts").iterdir() if each.is_dir())
    slots = shard / "slots.parquet"
    slots.write_bytes(slots.read_bytes()[:-20])
    _same(run_jobs(_jobs()), run_jobs(_jobs(), folder=tmp_path))


def test_tables_in_a_folder_are_those_in_memory(tmp_path: Path) -> None:
    settings = {"cca": ["cubic", "auto:policy=rules"], "runs": 3, "duration": "2s"}
    kept = ct.compare("drive", **settings, out=tmp_path / "out")
    there = ct.compare("drive", **settings)
    assert kept.to_json() == there.to_json()
    _same(dict(there.results.tables), dict(kept.results.tables), labels=False)
    read = ct.load(tmp_path / "out")
    _same(dict(there.results.tables), dict(read.results.tables), labels=False)
    assert read.results.about == there.results.about
    assert pq.read_schema(tmp_path / "out" / "slots.parquet").field("a").metadata[b"meaning"]
    kept.save(tmp_path / "copy")
    _same(dict(there.results.tables), dict(ct.load(tmp_path / "copy").results.tables), labels=False)


def test_files_of_earlier_results_that_these_do_not_have_go(tmp_path: Path) -> None:
    ct.compare("drive", cca="auto:policy=rules", runs=1, duration="2s", out=tmp_path)
    assert (tmp_path / "estimates.parquet").is_file()
    ct.compare("drive", cca="cubic", runs=1, duration="2s", out=tmp_path, overwrite=True)
    assert not (tmp_path / "estimates.parquet").exists()


def test_overrides_reach_a_loaded_scenario(celltcp, tmp_path: Path) -> None:
    changes = {"path.rtt": "80ms"}
    loaded = ct.load_scenario("drive")
    settings = {"cca": "cubic", "runs": 1, "duration": "2s", "set": changes}
    assert ct.compare(loaded, **settings).to_json() == ct.compare("drive", **settings).to_json()
    one = ct.run(loaded, duration="2s", set=changes)
    assert one.results.about == ct.run("drive", duration="2s", set=changes).results.about
    assert celltcp("traces", "generate", "x.up", "--mean", "1", "--duration", "20").returncode == 0
    uplink = tmp_path / "x.up"
    mine = ct.load_scenario(loaded, uplink=uplink)
    assert mine.hash == ct.load_scenario("drive", uplink=uplink).hash != loaded.hash
    with pytest.raises(ct.CelltcpError, match="nonsense"):
        ct.compare(loaded, set={"nonsense": 1})


def test_a_sweep_of_a_loaded_scenario_is_one_of_its_name() -> None:
    settings = {"cca": "cubic", "runs": 1, "duration": "2s"}
    loaded = ct.sweep(ct.load_scenario("drive"), "path.rtt=20ms,80ms", **settings)
    assert loaded.to_json() == ct.sweep("drive", "path.rtt=20ms,80ms", **settings).to_json()
