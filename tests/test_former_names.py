"""Former names of options and commands: they work, with one line that names those of today."""

from __future__ import annotations

import click
import pytest

from celltcp.cli import celltcp as commands
from celltcp.cli.former_names import COMMANDS, OPTIONS
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
    by_former, by_present = (
        celltcp("papers", "hughes2020", flag, "--runs", "1", "--dry-run")
        for flag in ("--era", "--historic-ccas")
    )
    assert by_former.stderr == "warning: --era is deprecated; use --historic-ccas\n"
    assert by_present.stderr == ""
    assert by_former.returncode == by_present.returncode == 0


@pytest.mark.parametrize("given", [("--leaves", "1"), ("--leaves=1",)])
def test_a_former_option_hands_its_value_over(given: tuple[str, ...], celltcp: Celltcp) -> None:
    done = celltcp("select", "train", *given, "--out", "mine.toml")
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
