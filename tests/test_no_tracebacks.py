"""Unusual surroundings: huge seeds, unknown pictures, full disks, terminals without UTF-8."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.files.atomic_write import atomic_write, write_text
from store import COMPARED

QUICK = ("--runs", "2", "--duration", "3s", "--cca", "cubic,bbr")
CELLTCP = str(Path(sys.executable).with_name("celltcp"))
# Python 3.11 keeps half a compiled module where the disk is full (importlib, `_write_atomic`).
WITHOUT_BYTECODE = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}


@pytest.mark.parametrize("seed", ["99999999999999999999", "18446744073709551615", "-1"])
@pytest.mark.parametrize(
    "command", [("compare", "drive"), ("run", "drive"), ("traces", "generate", "x")]
)
def test_seeds_that_cannot_be_are_refused(celltcp, command, seed: str) -> None:
    done = celltcp(*command, "--seed", seed)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert seed in done.stderr


def test_seeds_of_python_are_checked() -> None:
    for work in (ct.compare, ct.run):
        with pytest.raises(ct.CelltcpError, match="seed: 18446744073709551616 is not a number"):
            work("drive", "cubic", seed=2**64)


def test_endings_that_are_no_picture_are_refused(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    assert celltcp("traces", "generate", "x.down", "--duration", "5").returncode == 0
    for command in (("show", "r", "--plot", "ecdf"), ("traces", "plot", "x.down")):
        done = celltcp(*command, "--out", "p.foo")
        assert done.returncode == 2
        assert done.stderr.startswith("celltcp: p.foo: is no picture by its ending; allowed: .png")
        assert celltcp(*command, "--out", "p.pdf").returncode == 0
        assert (tmp_path / "p.pdf").read_bytes().startswith(b"%PDF")


#: Commands that write, and the place that each cannot write to when files may have 8 KiB only.
WRITERS = {
    "compare": (("compare", "drive", *QUICK, "--out", "o"), "o"),
    "run": (("run", "drive", "--duration", "3s", "--out", "o"), "o"),
    "sweep": (("sweep", "drive", *QUICK, "--vary", "path.rtt=20ms,40ms", "--out", "o"), "o"),
    "show --plot": (("show", "r", "--plot", "ecdf", "--out", "p.png"), "p.png"),
    "show --format": (("show", "r", "--format", "csv", "--out", "o"), "o/samples.csv"),
    "pcap": (("pcap", "analyze", "a.pcap", "--segments", "--out", "o"), "o"),
    "traces": (("traces", "generate", "t.down", "--duration", "60"), "t.down"),
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with results and a capture."""
    folder = tmp_path_factory.mktemp("full")
    command = ("run", "drive", "--duration", "3s", "--out", "r", "--pcap", "a.pcap", "-q")
    subprocess.run([CELLTCP, *command], cwd=folder, capture_output=True, check=True)
    return folder


@pytest.mark.parametrize("writer", WRITERS)
def test_a_disk_that_is_full_is_told_in_one_line(results: Path, tmp_path: Path, writer: str) -> None:
    command, place = WRITERS[writer]
    for name in ("r", "a.pcap"):
        (tmp_path / name).symlink_to(results / name)
    limited = ["bash", "-c", 'ulimit -f 8; exec "$@"', "bash", CELLTCP, *command]
    done = subprocess.run(
        limited, cwd=tmp_path, env=WITHOUT_BYTECODE, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    assert last == f"celltcp: {place}: cannot be written: File too large"
    assert not [file for file in tmp_path.rglob(".*") if file.name != ".celltcp-lock"]


def test_a_file_is_there_whole_or_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    write_text(file, "before")

    def fill_the_disk() -> None:
        with atomic_write(file) as partial:
            partial.write_text("half of")
            # As on a full disk: without the name of a file.
            raise OSError(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28]")

    with pytest.raises(ct.CelltcpError) as refused:
        fill_the_disk()
    assert str(refused.value) == f"{file}: cannot be written: No space left on device"
    assert [entry.name for entry in tmp_path.iterdir()] == ["policy.toml"]
    assert file.read_text() == "before"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_terminals_without_utf_8_show_the_table(tmp_path: Path, encoding: str) -> None:
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [CELLTCP, "compare", "drive", *QUICK],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.decode(encoding)
    assert ("+-" if encoding == "ascii" else "±") in text
    assert "best for" in text


@pytest.mark.rendered
def test_cca_chooses_in_every_picture_and_table(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    both = celltcp("show", "r").stdout
    one = celltcp("show", "r", "--cca", "bbr").stdout
    assert "cubic" in both
    assert "cubic" not in one
    for plot in ("overview", "ecdf", "time-series", "startup", "throughput-delay"):
        assert celltcp("show", "r", "--plot", plot, "--cca", "bbr", "--out", "one.svg").returncode == 0
        drawn = (tmp_path / "one.svg").read_text("utf-8")
        assert "bbr" in drawn
        assert "cubic" not in drawn


def test_a_full_disk_names_the_capture(celltcp) -> None:
    done = celltcp("run", "steady-5-18", "--duration", "2s", "--pcap", "/dev/full")
    assert done.returncode == 2
    assert "/dev/full: No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
