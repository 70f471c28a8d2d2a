"""Damage: a file with a flipped bit is refused, and the error names it."""

from __future__ import annotations

import logging
import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pytest

import celltcp as ct
from celltcp._core import policy_text, sealed_text
from celltcp.campaign import run as campaign
from celltcp.campaign.engines import engine
from celltcp.campaign.jobs import jobs_for
from celltcp.campaign.run import run_jobs
from celltcp.cli.load_folder import parts_of
from celltcp.results.working import working_folder
from celltcp.selection.evaluation import evaluate
from celltcp.selection.memory import memory_of
from celltcp.selection.training.counterfactual import PARTS as OUTCOME_PARTS
from celltcp.selection.training.counterfactual import Outcomes, Point
from celltcp.selection.training.families import Network
from celltcp.selection.training.table import read_outcomes, write_outcomes

#: Bits to flip in each file, one at a time.
FLIPS = 8

_SETTINGS = {"cca": ["cubic", "auto:policy=rules"], "runs": 2, "duration": "2s"}


@contextmanager
def flipped(file: Path, draw: random.Random) -> Iterator[None]:
    """Flips a random bit of a file within the context."""
    intact = file.read_bytes()
    damaged = bytearray(intact)
    bit = draw.randrange(8 * len(intact))
    damaged[bit // 8] ^= 1 << (bit % 8)
    file.write_bytes(damaged)
    try:
        yield
    finally:
        file.write_bytes(intact)


def refused(read: Callable[[], object], *files: Path, flips: int = FLIPS) -> None:
    """Asserts that `read` fails for every flipped bit; the message names the file and a remedy."""
    read()
    for file in files:
        draw = random.Random(1)
        for _ in range(flips):
            with flipped(file, draw), pytest.raises(ct.CelltcpError) as error:
                read()
            assert file.name in str(error.value)
            assert "again" in str(error.value)
    read()


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    ct.compare("steady-5-18", out=folder, **_SETTINGS)
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ran")
    ct.run("steady-5-18", "cubic", duration="2s", out=folder)
    return folder


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evaluated")
    _evaluate(folder)
    return folder


def _evaluate(folder: Path) -> object:
    return evaluate(
        "default",
        "steady-5-18",
        1,
        requirement="delay",
        against=(),
        cca=["cubic", "bbr"],
        history=0,
        set={"duration": "2s"},
        out=folder,
    )


@pytest.mark.parametrize("kind", ["compared", "ran"])
def test_no_bit_of_results_flips_unseen(kind: str, request: pytest.FixtureRequest) -> None:
    folder = request.getfixturevalue(kind)
    files = sorted(each for each in folder.iterdir() if each.suffix in (".parquet", ".json"))
    assert len(files) > 5
    refused(lambda: ct.load(folder), *files)
    # `celltcp report` checks the files, too.
    refused(lambda: parts_of(folder), folder / "slots.parquet", flips=1)


def test_continuing_names_a_damaged_file(compared: Path) -> None:
    def continue_campaign() -> None:
        ct.compare("steady-5-18", out=compared, **_SETTINGS)

    refused(continue_campaign, *sorted(compared.glob("*.parquet")), compared / "celltcp.json", flips=2)


def test_overwrite_replaces_damaged_results(tmp_path: Path) -> None:
    def run(**settings: object) -> None:
        ct.compare("steady-5-18", ["cubic"], 1, duration="1s", out=tmp_path, **settings)

    run()
    before = {each.name: each.read_bytes() for each in tmp_path.iterdir()}
    slots = tmp_path / "slots.parquet"
    slots.write_bytes(before[slots.name].replace(b"PAR1", b"PAR2"))
    with pytest.raises(ct.CelltcpError, match=r"slots\.parquet: damaged.*--overwrite"):
        run()
    run(overwrite=True)
    assert {each.name: each.read_bytes() for each in tmp_path.iterdir()} == before


@pytest.mark.slow
def test_no_bit_of_an_evaluation_flips_unseen(evaluated: Path) -> None:
    runs = evaluated / "runs.parquet"
    others = (evaluated / "calibration.parquet", evaluated / "celltcp.json")
    refused(lambda: _evaluate(evaluated), runs, *others, flips=1)
    refused(lambda: parts_of(evaluated), runs, evaluated / "decisions.parquet", flips=4)


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the shard of an interrupted campaign of `_jobs`."""
    real = campaign.run_batch

    def interrupt_after_last_run(*arguments):
        real(*arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(campaign, "run_batch", interrupt_after_last_run)
    with pytest.raises(KeyboardInterrupt):
        run_jobs(_jobs(), folder=tmp_path)
    monkeypatch.setattr(campaign, "run_batch", real)
    return tmp_path


def _jobs() -> list:
    loaded = ct.load_scenario("steady-5-18", duration="1s")
    return list(jobs_for(loaded, ["cubic", "bbr"], 1, 1, engine()))


@pytest.mark.parametrize("content", [None, b"[]", b"{}", b""])
def test_shards_with_damage_are_run_again_and_named(
    content: bytes | None, interrupted: Path, caplog: pytest.LogCaptureFixture
) -> None:
    intact = run_jobs(_jobs())
    draw = random.Random(3)
    (shard,) = (each for each in (interrupted / "parts").iterdir() if each.is_dir())
    contents = {file: file.read_bytes() for file in shard.iterdir()}
    files = list(contents) if content is None else [shard / "index.json"]
    for file in files:
        caplog.clear()
        with caplog.at_level(logging.WARNING), flipped(file, draw):
            if content is not None:
                file.write_bytes(content)
            again = run_jobs(_jobs(), folder=interrupted)
            # The shard has been removed; `flipped` writes the file again.
            shard.mkdir(parents=True)
        assert f"{file}: " in caplog.text
        assert "done again" in caplog.text
        for name, table in intact.items():
            pd.testing.assert_frame_equal(again[name].to_pandas(), table.to_pandas())
        restore_shard(interrupted, contents)


def restore_shard(folder: Path, contents: dict[Path, bytes]) -> None:
    """Puts the files of a shard back, into a working folder."""
    (shard,) = {file.parent for file in contents}
    for file in shard.iterdir():
        file.unlink()
    shard.rmdir()
    (folder / "parts").rmdir()
    working_folder(folder / "parts")
    shard.mkdir()
    for file, content in contents.items():
        file.write_bytes(content)


def test_no_bit_of_the_metadata_of_a_working_folder_flips_unseen(interrupted: Path) -> None:
    metadata = interrupted / "parts" / "celltcp.json"
    with (
        flipped(metadata, random.Random(1)),
        pytest.raises(ct.CelltcpError, match=r"parts/celltcp\.json"),
    ):
        run_jobs(_jobs(), folder=interrupted)
    run_jobs(_jobs(), folder=interrupted)


def test_no_bit_of_a_policy_flips_unseen(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(sealed_text(policy_text("rules")))
    scenario = ct.load_scenario("steady-5-18")
    refused(lambda: scenario.with_cca(f"auto:policy={file}"), file, flips=60)
    file.write_text(policy_text("rules").replace("name =", "# mine\nname ="))
    scenario.with_cca(f"auto:policy={file}")


def test_no_bit_of_a_memory_flips_unseen(compared: Path, tmp_path: Path) -> None:
    file = tmp_path / "memory.toml"
    file.write_text(memory_of(compared))
    scenario = ct.load_scenario("steady-5-18")
    refused(lambda: scenario.with_cca(f"auto:memory={file}"), file, flips=60)
    refused(lambda: memory_of(compared, known=file), file, flips=60)


def test_no_bit_of_a_table_of_outcomes_flips_unseen(tmp_path: Path) -> None:
    file = tmp_path / "policy.parquet"
    network = Network("steady", 1, 1, 'name = "x"')
    points = [Point(network, "cubic", at, None, "goodput", "stay") for at in (1.0, 2.0)]
    measured = {cca: (0.5,) * len(OUTCOME_PARTS) for cca in ("cubic", "bbr")}
    result = Outcomes(points, [{"rtt_ms": 20.0}] * 2, [measured] * 2)
    write_outcomes(result, ["cubic", "bbr"], file)
    assert read_outcomes(file, ["cubic", "bbr"]).points == points
    refused(lambda: read_outcomes(file, ["cubic", "bbr"]), file, flips=100)


def test_verify_counts_and_names(celltcp, compared: Path, tmp_path: Path) -> None:
    shutil.copytree(compared, tmp_path / "a" / "b")
    done = celltcp("show", "a", "--verify")
    files = len(list((tmp_path / "a" / "b").iterdir()))
    assert (done.returncode, done.stdout) == (0, f"a: {files} intact\n")
    (tmp_path / "a" / "b" / "runs.parquet").unlink()
    with flipped(tmp_path / "a" / "b" / "slots.parquet", random.Random(1)):
        done = celltcp("show", "a", "--verify")
        assert (done.returncode, done.stdout) == (1, f"a: {files - 2} intact, 2 damaged or missing\n")
        assert "a/b/runs.parquet: missing; " in done.stderr
        assert "a/b/slots.parquet: damaged" in done.stderr
    (tmp_path / "empty").mkdir()
    assert celltcp("show", "empty", "--verify").returncode == 2
    (tmp_path / "mine.toml").write_text(sealed_text(policy_text("rules")))
    assert celltcp("show", "mine.toml", "--verify").stdout == "mine.toml: 1 intact\n"
