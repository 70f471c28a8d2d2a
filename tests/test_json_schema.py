"""Schemas of the JSON that commands write: real output fits them, and they name units."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

import celltcp as ct
from celltcp.cli import celltcp as commands
from celltcp.cli.json_schema import SCHEMAS, schema_of
from celltcp.fidelity.packetdrill import PASSED, Outcome
from celltcp.pcap.validation.validation import judgement_of, validate
from celltcp.pcap.validation.validation_cases import CASES
from test_fidelity import judgement, outcome

_UNITS = {"_ms": "ms", "_s": "s", "_ns": "ns", "_mbps": "Mbit/s", "_bytes": "bytes", "_percent": "%"}


def _with_json(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    if any("--json" in each.opts for each in command.params):
        yield " ".join(path)
    if isinstance(command, click.Group):
        for name, inner in command.commands.items():
            yield from _with_json(inner, (*path, name))


def _call(*arguments: str) -> Any:
    result = CliRunner().invoke(commands, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def _fits(command: str, result: Any) -> None:
    faults = sorted(Draft202012Validator(schema_of(command)).iter_errors(result), key=str)
    assert not faults, [(fault.json_path, fault.message[:200]) for fault in faults[:5]]


def test_every_command_with_json_has_a_valid_schema() -> None:
    assert set(_with_json(commands)) == SCHEMAS.keys()
    for name in SCHEMAS:
        schema = _call(*name.split(), "--json-schema")
        Draft202012Validator.check_schema(schema)
        assert schema == schema_of(name)


def _properties(schema: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(schema, dict):
        for name, inner in schema.get("properties", {}).items():
            yield name, inner
        for inner in schema.values():
            yield from _properties(inner)
    elif isinstance(schema, list):
        for inner in schema:
            yield from _properties(inner)


@pytest.mark.parametrize("name", SCHEMAS)
def test_descriptions_of_quantities_name_their_units(name: str) -> None:
    for field, schema in _properties(schema_of(name)):
        for ending, unit in _UNITS.items():
            text = schema.get("description", "")
            if field.endswith(ending) and text:
                assert unit in text, (field, text)


def test_output_of_campaigns_fits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    short = ("--duration", "2s", "--runs", "2", "-q", "--json", "-")
    one = _call("compare", "drive", "--cca", "cubic,bbr", "--middlebox", "none,split", *short)
    _fits("compare", one)
    _fits("compare", _call("compare", "drive", "steady-5-18", "--cca", "cubic,auto", *short))
    # No name of a congestion control is part of the schema.
    _fits(
        "compare", _call("compare", "drive", "steady-5-18", "--cca", "reno,auto:policy=rules", *short)
    )
    _fits("sweep", _call("sweep", "drive", "--vary", "path.rtt=20ms,80ms", "--cca", "cubic", *short))
    run = ("run", "drive", "--cca", "auto:policy=rules", "--duration", "2s", "-q", "--json", "-")
    _fits("run", _call(*run, "--out", "one", "--pcap", "c.pcap"))
    _fits("show", _call("show", "one", "--json", "-"))
    _fits("explain", _call("explain", "one", "-q", "--json", "-"))
    _fits("select explain", _call("select", "explain", "one", "-q", "--json", "-"))
    _fits("pcap analyze", _call("pcap", "analyze", "c.pcap", "--json", "-"))
    _fits("pcap compare", _call("pcap", "compare", "c.pcap", "c.pcap", "--json", "-"))
    _fits("pcap resets", _call("pcap", "resets", "c.pcap", "--json", "-"))
    settings = ("--scenarios", "steady-5-18", "--set", "duration=2s", "--cca", "cubic", "--runs", "2")
    _fits("select evaluate", _call("select", "evaluate", *settings, "-q", "--json", "-"))
    played = ("--scenarios", "steady-5-18", "--duration", "2s", "--episodes", "2", "-q", "--json", "-")
    _fits("select env", _call("select", "env", *played))
    _fits("select env", _call("select", "env", "-q", "--json", "-"))
    video = ("--abr", "bola", "--cca", "cubic", "--duration", "4s", "--runs", "2", "-q", "--json", "-")
    _fits("video", _call("video", "steady-5-18", *video))
    broken = {**one, "runs": [{**one["runs"][0], "goodput_mbps": "much"}]}
    assert not Draft202012Validator(schema_of("compare")).is_valid(broken)


def test_output_of_other_commands_fits() -> None:
    for names in ((), ("bbr",), ("auto",)):
        _fits("cca", _call("cca", *names, "--json"))
    _fits("kernel status", _call("kernel", "status", "--json"))
    _fits("fidelity packetdrill", [asdict(Outcome("a.pkt", PASSED))])
    _fits("pcap validate", judgement_of(validate([replace(CASES[0], duration="2s")])))
    judged = outcome(judgement("outage", "bbr", 9.0), judgement("outage", "cubic", 1.0, "outage"))
    _fits("fidelity", judged.to_json([]))


def test_output_about_broken_captures_fits(tmp_path: Path) -> None:
    file = tmp_path / "c.pcap"
    ct.run("steady-5-18", duration="1s", pcap=file)
    file.write_bytes(file.read_bytes()[:-10])
    result = CliRunner().invoke(commands, ["pcap", "analyze", str(file), "--json", "-"])
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["captures"][0]["broken"]["offset"] > 0
    _fits("pcap analyze", found)
