"""Outputs: regular files are replaced whole, pipes and devices written through, no input is lost."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

import celltcp as ct
from celltcp.files.atomic_write import atomic_write, write_text

_RUN = ("run", "steady-5-18", "--cca", "cubic", "--duration", "1s", "--quiet")
_TABLE = "time_s,rate_mbps\n0,5\n10,7\n"


def _celltcp(*arguments: object, folder: Path, **more: object) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, "-m", "celltcp", *map(str, arguments)]
    environment = {name: value for name, value in os.environ.items() if name != "RUST_BACKTRACE"}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    options |= {"env": environment, **more}
    return subprocess.run(words, cwd=folder, check=False, **options)  # type: ignore[call-overload, no-any-return]


def _read_pipe(pipe: Path) -> tuple[threading.Thread, list[bytes]]:
    """Starts a reader of a named pipe, whose content is the only item of the list in the end."""
    content: list[bytes] = []
    reader = threading.Thread(target=lambda: content.append(pipe.read_bytes()), daemon=True)
    reader.start()
    return reader, content


def test_a_named_pipe_is_written_through_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader, content = _read_pipe(pipe)
    done = _celltcp(*_RUN, "--json", pipe, folder=tmp_path)
    reader.join(20)
    assert (done.returncode, done.stderr) == (0, "")
    assert content[0].startswith(b"{")
    assert pipe.is_fifo()
    assert [each.name for each in tmp_path.iterdir()] == ["pipe"]


def test_a_capture_for_a_named_pipe_arrives_there(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader, content = _read_pipe(pipe)
    done = _celltcp(*_RUN, "--pcap", pipe, folder=tmp_path)
    reader.join(20)
    again = _celltcp(*_RUN, "--pcap", "plain.pcap", folder=tmp_path)
    assert (done.returncode, again.returncode) == (0, 0)
    assert content[0] == (tmp_path / "plain.pcap").read_bytes()
    assert pipe.is_fifo()


@pytest.mark.parametrize("option", ["--json", "--pcap"])
def test_a_full_device_is_an_error_and_stays_a_device(option: str, tmp_path: Path) -> None:
    done = _celltcp(*_RUN, option, "/dev/full", folder=tmp_path)
    assert done.returncode == 2
    assert "/dev/full: " in done.stderr.splitlines()[-1]
    assert "No space left on device" in done.stderr
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)


@pytest.mark.parametrize("name", ["/dev/null", "/dev/stdout", "/dev/stderr"])
def test_devices_and_standard_streams_are_allowed_names(name: str, tmp_path: Path) -> None:
    done = _celltcp(*_RUN, "--json", name, folder=tmp_path)
    assert done.returncode == 0
    assert ('"scenario"' in done.stdout) == (name == "/dev/stdout")
    assert ('"scenario"' in done.stderr) == (name == "/dev/stderr")


def test_of_a_link_the_target_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    link, target = tmp_path / "link.json", tmp_path / "real" / "target.json"
    target.write_text("{}")
    link.symlink_to(target)
    assert _celltcp(*_RUN, "--json", link, folder=tmp_path).returncode == 0
    assert link.is_symlink()
    assert '"scenario"' in target.read_text()
    assert sorted(each.name for each in target.parent.iterdir()) == ["target.json"]


def test_a_link_to_nothing_makes_its_target(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_text(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_text() == "new"


def test_the_temporary_file_is_new_and_no_link_in_its_place_is_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    monkeypatch.setattr("secrets.token_hex", lambda _: "known")
    (tmp_path / ".celltcp-known.partial").symlink_to(victim)
    with pytest.raises(ct.CelltcpError, match="File exists"):
        write_text(tmp_path / "new", "text")
    assert victim.read_text() == "precious"


def test_the_mode_of_a_file_is_kept_and_that_of_a_new_one_follows_the_umask(tmp_path: Path) -> None:
    kept, new = tmp_path / "kept", tmp_path / "new"
    kept.write_text("before")
    kept.chmod(0o640)
    before = os.umask(0o027)
    try:
        for file in (kept, new):
            write_text(file, "after")
    finally:
        os.umask(before)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (kept, new)] == [0o640, 0o640]
    kept.chmod(0o600)
    write_text(kept, "later")
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600


def test_a_failure_within_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("before")

    def fail() -> None:
        with atomic_write(file) as partial:
            partial.write_text("half of")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert file.read_text() == "before"
    assert list(tmp_path.iterdir()) == [file]


def test_a_capture_on_a_full_disk_leaves_no_half_file(tmp_path: Path) -> None:
    import resource

    def limit() -> None:
        # As a full disk: writing fails beyond some bytes, with an error and no signal.
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    # Python 3.11 keeps half a compiled module where the disk is full (importlib, `_write_atomic`).
    without_bytecode = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = _celltcp(*_RUN, "--pcap", "a.pcap", folder=tmp_path, preexec_fn=limit, env=without_bytecode)
    assert done.returncode == 2
    assert "a.pcap: File too large" in done.stderr.splitlines()[-1]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("arguments", "output"),
    [
        (("traces", "convert", "in.csv", "there"), "there"),
        (("traces", "generate", "--mean", "5", "--duration", "5", "there"), "there"),
        ((*_RUN, "--pcap", "there"), "there"),
        ((*_RUN, "--json", "there"), "there"),
        (("traces", "plot", "in.csv", "--out", "there.png"), "there.png"),
        (("traces", "plot", "in.csv", "--out", "there.svg"), "there.svg"),
    ],
)
def test_another_file_is_not_replaced(arguments: tuple[str, ...], output: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(_TABLE)
    (tmp_path / output).write_text("precious")
    done = _celltcp(*arguments, folder=tmp_path)
    assert done.returncode == 2
    assert f"{output}: exists" in done.stderr
    assert (tmp_path / output).read_text() == "precious"
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted(["in.csv", output])


@pytest.mark.parametrize(
    "arguments",
    [
        ("traces", "convert", "in.csv", "there", "--overwrite"),
        (*_RUN, "--pcap", "there", "--overwrite"),
    ],
)
def test_overwrite_replaces_it(arguments: tuple[str, ...], tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(_TABLE)
    (tmp_path / "there").write_text("precious")
    done = _celltcp(*arguments, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "there").read_bytes() != b"precious"


@pytest.mark.parametrize(
    ("given", "target"),
    [("in.csv", "in.csv"), ("./in.csv", "in.csv"), ("in.csv", "link"), ("link", "in.csv")],
)
def test_an_input_is_never_the_output(given: str, target: str, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(_TABLE)
    (tmp_path / "link").symlink_to("in.csv")
    done = _celltcp("traces", "convert", given, target, "--overwrite", folder=tmp_path)
    assert done.returncode == 2
    assert f"{target}: is named as another file of this command" in done.stderr
    assert (tmp_path / "in.csv").read_text() == _TABLE
    assert (tmp_path / "link").is_symlink()


def test_json_and_pictures_of_celltcp_are_replaced_without_a_question(celltcp, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(_TABLE)
    for _ in range(2):
        for arguments in (
            (*_RUN, "--json", "a.json"),
            ("traces", "plot", "in.csv", "--out", "a.png"),
            ("traces", "plot", "in.csv", "--out", "a.svg"),
            ("traces", "plot", "in.csv", "--out", "a.pdf"),
        ):
            done = celltcp(*arguments)
            assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("scenarios",),
        ("cca",),
        ("--help",),
        ("compare", "--json-schema"),
        (*_RUN, "--json", "-"),
    ],
)
def test_a_reader_that_leaves_ends_the_command_as_sigpipe_does(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = _celltcp(*arguments, folder=tmp_path, stdout=write_end)
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (-signal.SIGPIPE, "")


def test_shells_see_141_of_a_broken_pipe(tmp_path: Path) -> None:
    script = f'set -o pipefail; "{sys.executable}" -m celltcp scenarios | (exec <&-; sleep 3); echo $?'
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("141\n", "")


def test_the_file_of_json_is_written_although_the_reader_of_the_table_has_gone(tmp_path: Path) -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        _celltcp(*_RUN, "--json", "a.json", folder=tmp_path, stdout=write_end)
    finally:
        os.close(write_end)
    assert '"scenario"' in (tmp_path / "a.json").read_text()


def test_standard_output_on_a_full_device_is_an_error(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = _celltcp("scenarios", folder=tmp_path, stdout=full)
    assert done.returncode == 2
    assert done.stderr == "celltcp: standard output: No space left on device\n"
