"""Folders of other origin: what celltcp did not write is neither removed nor replaced nor followed."""

from __future__ import annotations

import random
from pathlib import Path

import click
import pytest

import celltcp as ct
from celltcp.cli import celltcp as command_line
from celltcp.results.working import checked_name, is_checked, remove_working, working_folder

_SHORT = ("--duration", "1s", "--cca", "cubic,bbr", "--runs", "1")
_EVALUATE = ("select", "evaluate", "--policy", "rules", "--scenarios", "steady-5-18", "--runs", "1")

#: Commands with --out.
COMMANDS = {
    "compare": ("compare", "steady-5-18", *_SHORT),
    "compare of several": ("compare", "steady-5-18", "drive", *_SHORT),
    "sweep": ("sweep", "steady-5-18", "--vary", "path.rtt=20ms,40ms", *_SHORT),
    "run": ("run", "steady-5-18", "--duration", "1s", "--cca", "cubic"),
    "papers": ("papers", "hughes2020"),
    "report": ("report", "out"),
    "select evaluate": _EVALUATE,
    "select train": ("select", "train", "--runs", "1"),
    "video": ("video", "steady-5-18", "--duration", "1s", "--cca", "cubic", "--runs", "1"),
    "pcap analyze": ("pcap", "analyze", "x.pcap"),
}


def _tree(folder: Path) -> dict[str, tuple[object, ...]]:
    """Everything in a folder: kinds, contents, targets of links and times."""
    result: dict[str, tuple[object, ...]] = {}
    for each in [folder, *sorted(folder.rglob("*"))]:
        status = each.lstat()
        content = each.read_bytes() if each.is_file() else b""
        target = each.readlink() if each.is_symlink() else None
        result[str(each)] = (status.st_mode, status.st_mtime_ns, content, target)
    return result


def _refused(*arguments: str) -> str:
    """The message with which a command ends whose exit code is 2."""
    with pytest.raises((ct.CelltcpError, click.ClickException)) as refusal:
        command_line.main(arguments, standalone_mode=False)
    return str(refusal.value)


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a file, beside the folder that the commands are given."""
    (tmp_path / "out").mkdir()
    (tmp_path / "x.pcap").write_bytes(b"")
    place = tmp_path / "elsewhere"
    (place / "deep").mkdir(parents=True)
    (place / "deep" / "precious").write_text("months of work")
    monkeypatch.chdir(tmp_path)
    return place


@pytest.mark.parametrize("name", COMMANDS)
def test_folders_of_other_origin_stay_as_they_are(name: str, elsewhere: Path) -> None:
    for folder in ("parts", "finished"):
        (Path("out") / folder).mkdir()
    (Path("out") / "parts" / "x").symlink_to(elsewhere)
    before = _tree(Path())
    assert "out" in _refused(*COMMANDS[name], "--out", "out")
    assert _tree(Path()) == before


@pytest.mark.parametrize("name", ["compare", "sweep", "run", "select evaluate"])
@pytest.mark.parametrize("folder", ["parts", "finished"])
def test_neither_is_a_link_to_a_folder_followed_nor_is_overwrite_a_reason(
    name: str, folder: str, elsewhere: Path
) -> None:
    (Path("out") / folder).symlink_to(elsewhere)
    before = _tree(Path())
    message = _refused(*COMMANDS[name], "--out", "out", "--overwrite")
    assert message.startswith(f"out/{folder}: is a link")
    assert _tree(Path()) == before


@pytest.mark.parametrize("name", ["compare of several", "sweep"])
def test_a_link_in_the_place_of_a_folder_of_results_is_named(name: str, elsewhere: Path) -> None:
    for folder in ("drive", "path.rtt=20ms"):
        (Path("out") / folder).symlink_to(elsewhere)
    before = _tree(Path())
    assert "is a link" in _refused(*COMMANDS[name], "--out", "out")
    assert _tree(Path()) == before


@pytest.mark.parametrize(
    ("name", "file"),
    [
        *(("compare", each) for each in ("runs.parquet", "slots.parquet", "overview.png")),
        *(("run", each) for each in ("samples.parquet", "run.png")),
        ("sweep", "sweep.png"),
        *(("select evaluate", each) for each in ("runs.parquet", "worst.parquet", "cases.png")),
    ],
)
def test_files_of_other_origin_are_neither_replaced_nor_written_through(
    name: str, file: str, elsewhere: Path
) -> None:
    place = Path("out") / file
    place.write_text("mine")
    assert _refused(*COMMANDS[name], "--out", "out").startswith(f"out/{file}: ")
    assert place.read_text() == "mine"
    place.unlink()
    place.symlink_to(elsewhere / "deep" / "precious")
    before = _tree(elsewhere)
    message = _refused(*COMMANDS[name], "--out", "out", "--overwrite")
    assert message.startswith(f"out/{file}: is a link")
    assert _tree(elsewhere) == before


@pytest.mark.parametrize("name", ["celltcp.json", ".celltcp-lock"])
@pytest.mark.usefixtures("elsewhere")
def test_files_that_only_have_a_name_of_celltcp_are_named(name: str) -> None:
    (Path("out") / name).write_text("[]")
    before = _tree(Path())
    assert _refused(*COMMANDS["compare"], "--out", "out").startswith(f"out/{name}: ")
    assert _tree(Path()) == before


@pytest.mark.parametrize("where", ["parts", "shard"])
@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_a_working_folder_with_one_thing_of_other_origin_stays_whole(
    where: str, kind: str, tmp_path: Path
) -> None:
    place = working_folder(tmp_path / "parts")
    shard = place / checked_name("1234")
    shard.mkdir()
    (shard / "runs.parquet").write_bytes(b"")
    foreign = (place if where == "parts" else shard) / "notes"
    if kind == "file":
        foreign.write_text("mine")
    elif kind == "link":
        foreign.symlink_to(tmp_path)
    else:
        foreign.mkdir()
        (foreign / "runs.parquet").write_bytes(b"")
    before = _tree(tmp_path)
    with pytest.raises(ct.CelltcpError, match="notes"):
        remove_working(place)
    assert _tree(tmp_path) == before


def test_a_working_folder_goes_with_all_that_is_in_it(tmp_path: Path) -> None:
    place = working_folder(tmp_path / "finished")
    working_folder(place / "runs")
    shard = place / checked_name("1234")
    shard.mkdir()
    (shard / "runs.parquet").write_bytes(b"")
    remove_working(place)
    assert not any(tmp_path.iterdir())


def test_names_are_checked_by_their_digests() -> None:
    drawn = random.Random(5)
    for _ in range(200):
        text = "".join(drawn.choice("abc-0123.") for _ in range(drawn.randrange(1, 12)))
        assert is_checked(checked_name(text))
        assert not is_checked(text)
        assert not is_checked(f"{text}-{drawn.randrange(16**8):08x}")
