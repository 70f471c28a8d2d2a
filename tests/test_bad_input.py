"""Bad input: one line, exit code 2, nothing half-written."""

from pathlib import Path

import pytest

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


def test_a_truncated_result_is_reported(celltcp, tmp_path: Path) -> None:
    assert celltcp("compare", "drive", "--runs", "1", "--duration", "2s", "--out", "r").returncode == 0
    slots = tmp_path / "r" / "slots.parquet"
    slots.write_bytes(slots.read_bytes()[:100])
    done = celltcp("show", "r")
    assert done.returncode == 2
    assert "slots.parquet: damaged" in done.stderr
