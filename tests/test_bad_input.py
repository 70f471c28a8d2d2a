"""Bad input: one line, exit code 2, nothing half-written."""

from pathlib import Path

import pytest

from celltcp._core import seal
from store import COMPARED

CASES = {
    "scenario": (("compare", "stedy-20-68"), "scenario 'stedy-20-68'", "steady-20-68"),
    "cca": (("compare", "drive", "--cca", "cubix"), '"cubix"', "reno"),
    "field": (("compare", "drive", "--set", "path.bufer=1bdp"), "path.bufer", "buffer"),
    "unit": (("compare", "drive", "--set", "path.rtt=60furlongs"), "path.rtt", '"60furlongs"'),
    "negative": (("compare", "drive", "--set", "path.down.rate=-5Mbit/s"), "path.down.rate", "-5"),
    "file": (("compare", "none.toml"), "none.toml", "no such file"),
    "trace": (("compare", "none.down"), "none.down", "no such file"),
    "out": (("compare", "drive", "--out", "/proc/nowhere"), "/proc/nowhere", "cannot be written"),
    "json": (("compare", "drive", "--json", "missing/out.json"), "missing/out.json", "cannot"),
    "json is a folder": (("compare", "drive", "--json", "/"), "/: is a folder", "allowed: a file"),
    "json has no name": (("pcap", "resets", "a.pcap", "--json", ""), ".: is a folder", "a file"),
    "schema and name": (("scenarios", "drive", "--schema"), "--schema", "'drive'"),
    "features and name": (("select", "policies", "rules", "--features"), "--features", "give one"),
    "pcap": (("run", "drive", "--cca", "bbr", "--pcap", "missing/x.pcap"), "missing/x.pcap", "cannot"),
    "runs": (("compare", "drive", "--runs", "0"), "--runs", "0"),
    "show": (("show", "nothing"), "nothing", "no such folder"),
}


@pytest.mark.parametrize("case", CASES)
def test_it_is_refused_in_one_line(celltcp, tmp_path: Path, case: str) -> None:
    arguments, *parts = CASES[case]
    done = celltcp(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    message = done.stderr.strip().splitlines()[-1]
    assert all(part in message for part in parts), message
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("text", "place"),
    [("1\nx\n", "t.down:2"), ("", "t.down"), ("5\n4\n", "t.down:2"), ("-1\n", "t.down:1")],
)
def test_a_malformed_trace_is_refused_by_file_and_line(celltcp, tmp_path, text, place) -> None:
    (tmp_path / "t.down").write_text(text)
    for arguments in (("traces", "info", "t.down"), ("compare", "t.down", "--runs", "1")):
        done = celltcp(*arguments)
        assert done.returncode == 2
        assert place in done.stderr


@pytest.mark.parametrize("levels", [65, 300_000])
@pytest.mark.parametrize("level", [".a", "[", "{a=", "[{a="])
def test_a_scenario_nested_too_deeply_is_refused_by_its_line(celltcp, tmp_path, level, levels) -> None:
    text = f"path{level * levels} = 1" if level == ".a" else f"path = {level * levels}"
    (tmp_path / "deep.toml").write_text(f'name = "deep"\n{text}\n')
    done = celltcp("compare", "deep.toml")
    assert done.returncode == 2
    assert done.stderr.strip() == "celltcp: deep.toml:2: tables and lists are at most 64 levels deep"


def test_a_list_of_files_nested_too_deeply_is_no_list(celltcp, tmp_path: Path) -> None:
    (tmp_path / "r").mkdir()
    place = b'{"celltcp-digest": "xxh3-128:' + b"0" * 32 + b'", "files": '
    (tmp_path / "r" / "celltcp.json").write_bytes(seal(place + b"[" * 100_000))
    done = celltcp("show", "r")
    assert done.returncode == 2
    assert done.stderr.startswith("celltcp: r/celltcp.json: is no list of files of celltcp")


def test_a_truncated_result_is_reported(celltcp, stored) -> None:
    slots = stored("r", *COMPARED) / "slots.parquet"
    slots.write_bytes(slots.read_bytes()[:100])
    done = celltcp("show", "r")
    assert done.returncode == 2
    assert "slots.parquet: damaged" in done.stderr
