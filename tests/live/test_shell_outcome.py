"""Outcome of a live run: events, lists, logs that are replayed, and schemas."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema

from celltcp.cli.json_schema import schema_of
from celltcp.live.shell import Shell
from live.programs import SINK, SOURCE


def test_verbose_prints_when_hosts_and_path_begin_and_end(wired: Path) -> None:
    command = [sys.executable, "-m", "celltcp", "shell", "-v", str(wired), "--", "true"]
    done = subprocess.run(command, timeout=60, stderr=subprocess.PIPE, text=True)
    events = [line.split(" ", 1)[1] for line in done.stderr.splitlines() if line[2:3] == ":"]
    hosts = sorted(event.replace("veth", "tun") for event in events[:2])
    created = "namespaces and tun device created"
    assert hosts == [f"host phone: {created}", f"host server: {created}"]
    assert events[2].startswith("path started: scenario wired, ")
    assert events[-1] == "path stopped, devices removed"


def test_runs_that_go_on_are_listed(wired: Path) -> None:
    command = [sys.executable, "-m", "celltcp", "shell", "list", "--json", "-"]

    def listed() -> list[dict[str, object]]:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        runs: list[dict[str, object]] = json.loads(done.stdout)
        jsonschema.validate(runs, schema_of("shell list"))
        return [run for run in runs if run["process"] == os.getpid()]

    with Shell(wired, "reno"):
        (run,) = listed()
    assert (run["scenario"], run["cca"]) == ("wired", "reno")
    assert listed() == []


def test_a_log_is_replayed_to_the_same_departures(wired: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    with Shell(wired, log=log) as shell:
        sink = shell.start([sys.executable, "-c", SINK], stdout=subprocess.PIPE, text=True)
        assert sink.stdout is not None
        assert sink.stdout.readline() == "ready\n"
        shell.run([sys.executable, "-c", SOURCE, "phone", "5001", "1"], on="server", timeout=60)
    live = shell.result()
    command = [sys.executable, "-m", "celltcp", "replay", str(log), "--json", "-"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "the same as those of the live run" in done.stderr
    again = json.loads(done.stdout)
    assert again["to"] == live.status["to"]
    assert [flow["bytes"] for flow in again["flows"]] == live.tables["flows"]["bytes"].to_pylist()
    text = log.read_bytes()
    # Another time of one arrival changes what follows.
    head = text.index(b"\n") + 1
    log.write_bytes(text[:head] + bytes([text[head] ^ 1]) + text[head + 1 :])
    assert subprocess.run(command, capture_output=True).returncode in (1, 2)
    log.write_bytes(text[: head - 40])
    refused = subprocess.run(command, capture_output=True, text=True)
    assert refused.returncode == 2
    assert "is no log of celltcp shell --log" in refused.stderr


def test_the_outcome_fits_its_schema(wired: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    celltcp = [sys.executable, "-m", "celltcp"]
    for name, words in {
        "shell run": ["shell", str(wired), "--log", str(log), "--json", "-", "--", "true"],
        "replay": ["replay", str(log), "--json", "-"],
    }.items():
        done = subprocess.run([*celltcp, *words], capture_output=True, text=True, check=True)
        jsonschema.validate(json.loads(done.stdout), schema_of(name))
