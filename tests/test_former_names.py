"""Former names of options, commands and fields: each works, with a warning that has the new name."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from celltcp._core import CelltcpError
from celltcp.cli import celltcp as commands
from celltcp.cli.former_names import COMMANDS, OPTIONS
from celltcp.deprecation import warn_deprecated
from celltcp.scenarios.ccas import chosen, through
from celltcp.scenarios.scenarios import load_scenario, scenario_names

if TYPE_CHECKING:
    from conftest import Celltcp


def _command(path: str) -> click.Command:
    result: click.Command = commands
    for name in path.split():
        assert isinstance(result, click.Group)
        result = result.commands[name]
    return result


@pytest.mark.parametrize("path", OPTIONS)
def test_options_have_their_present_names_only_in_help(path: str) -> None:
    command = _command(path)
    records = [each.get_help_record(click.Context(command)) for each in command.params]
    shown = {record[0].split()[0] for record in records if record}
    for former, now in OPTIONS[path].items():
        assert now in shown
        assert former not in shown


@pytest.mark.parametrize("group", COMMANDS)
def test_commands_have_their_present_names_only_in_help(group: str, celltcp: Celltcp) -> None:
    shown = celltcp(group, "--help").stdout
    for former, now in COMMANDS[group].items():
        assert f"  {now} " in shown
        assert f"  {former} " not in shown


def test_a_former_flag_works_with_a_warning(celltcp: Celltcp) -> None:
    done = celltcp("papers", "atxutegi2017", "figure-2", "--era", "--runs", "1", "--dry-run")
    assert done.stderr == "warning: --era is deprecated; use --historic-ccas\n"
    assert done.returncode == 0


@pytest.mark.parametrize("arguments", [("--leaves", "1"), ("--leaves=1",)])
def test_a_former_option_hands_its_value_over(arguments: tuple[str, ...], celltcp: Celltcp) -> None:
    done = celltcp("select", "train", *arguments, "--out", "mine.toml")
    assert done.returncode == 2
    assert "warning: --leaves is deprecated; use --max-leaves" in done.stderr
    assert "Invalid value for '--max-leaves': 1 is not in the range x>=2." in done.stderr


def test_an_option_by_both_names_is_refused(celltcp: Celltcp) -> None:
    done = celltcp("select", "memory", "results", "--known", "a.toml", "--extend", "b.toml")
    assert done.returncode == 2
    assert "--known is --extend now; give one of them" in done.stderr


def test_a_former_option_may_be_repeated_as_that_of_today(celltcp: Celltcp) -> None:
    done = celltcp("cca", "mine", "--own", "none.py", "--own", "nothing.py")
    assert "warning: --own is deprecated; use --cca-file\n" in done.stderr
    assert "none.py" in done.stderr


def test_a_former_command_works_with_a_warning(celltcp: Celltcp) -> None:
    former = celltcp("pcap", "judge", "--dry-run")
    assert former.stderr == "warning: pcap judge is deprecated; use pcap validate\n"
    assert former.stdout.startswith("14 runs")
    shown = celltcp("select", "engines", "--help")
    assert "celltcp select compare-engines [OPTIONS]" in shown.stdout


def test_a_schema_is_that_of_the_command_of_today(celltcp: Celltcp) -> None:
    former = celltcp("pcap", "judge", "--json-schema")
    assert former.stdout == celltcp("pcap", "validate", "--json-schema").stdout


_FORMER = """duration = "1s"
[path]
queue = { kind = "threshold", mark_above = "40kB" }
cross = [{ rate = "1Mbit/s" }]
"""


def test_fields_of_a_file_by_former_names_are_read_with_a_line_each(
    celltcp: Celltcp, tmp_path: Path
) -> None:
    (tmp_path / "old.toml").write_text(_FORMER)
    done = celltcp("run", "old.toml", "--cca", "cubic", "--set", "path.cross.0.rate=2Mbit/s", "-q")
    assert done.returncode == 0
    assert sorted(done.stderr.splitlines()) == [
        "warning: old.toml:3: path.queue.mark_above: deprecated; use path.queue.ecn_threshold",
        "warning: old.toml:4: path.cross: deprecated; use path.cross_traffic",
        "warning: override path.cross.0.rate=2Mbit/s: path.cross: deprecated; use path.cross_traffic",
    ]


def test_printed_scenarios_have_the_present_names(tmp_path: Path) -> None:
    file = tmp_path / "old.toml"
    file.write_text(_FORMER)
    loaded = load_scenario(file)
    assert len(loaded.deprecations) == 2
    assert "cross = " not in loaded.to_toml()
    again = pickle.loads(pickle.dumps(loaded))
    assert again.deprecations == []
    assert again.hash == loaded.hash


def test_changes_by_former_names_are_those_by_present_names(caplog: pytest.LogCaptureFixture) -> None:
    warn_deprecated.cache_clear()
    former = load_scenario("drive", changes={"path.cross": [{"rate": "3Mbit/s"}]})
    assert "path.cross: deprecated; use path.cross_traffic" in caplog.text
    caplog.clear()
    present = load_scenario("drive", changes={"path.cross_traffic": [{"rate": "3Mbit/s"}]})
    assert caplog.text == ""
    assert former.hash == present.hash
    with pytest.raises(CelltcpError, match=r"given as eln, too; allowed: eln alone"):
        load_scenario("drive", changes={"tcp": {"eln": True, "loss_notices": True}})


def test_settings_of_middleboxes_by_former_names_are_printed_by_present_names(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warn_deprecated.cache_clear()
    assert through(["cubic"], "reset-tracker:hold=3s") == ["cubic@reset-tracker:discard_time=3s"]
    assert chosen("cubic@as:piggyback=5ms", []) == ["cubic@as:max_ack_wait=5ms"]
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [
        "warning: reset-tracker:hold=3s: hold: deprecated; use discard_time",
        "warning: as:piggyback=5ms: piggyback: deprecated; use max_ack_wait",
    ]


def test_built_in_scenarios_have_the_present_names() -> None:
    for name in scenario_names():
        assert load_scenario(name).deprecations == []
