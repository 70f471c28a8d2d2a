"""Printed commands: each is one that a shell and the tool would take as it stands."""

from __future__ import annotations

import random
import re
import shlex
from typing import Any

import pytest

from celltcp._core import describe_cca, native_ccas
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.explanation.trials.proposals import lines_of
from celltcp.comparison.lines.linux_lines import cca_line, linux_line, other_system_lines
from celltcp.comparison.lines.settings_lines import linux_commands, settings_blocks, systems
from celltcp.comparison.lines.socket_options import socket_option_texts
from celltcp.comparison.report.receive_window import WindowLimit
from drawn_causes import CAUSES, compared_with

_MAX = 2**31 - 1
_SYSCTL = re.compile(r"(net(?:\.\w+)+|kern(?:\.\w+)+)=(.+)")
#: Values of fields by their unit in `systems.toml`.
_VALUES = {
    "B": lambda draw: f"{draw.randint(10_000, 10**9)}B",
    "ms": lambda draw: f"{draw.randint(1_000, 120_000)}ms",
    "s": lambda draw: f"{draw.randint(1, 7_200)}s",
    "number": lambda draw: str(draw.randint(1, 64)),
    "none": lambda draw: draw.choice(["true", "false"]),
    "switch": lambda draw: draw.choice(["true", "false"]),
    "": lambda draw: draw.choice(["true", "false"]),
}


def check_command(command: str) -> None:
    """Checks a command as a shell splits it: sysctl, ip, tc, netsh, kldload or echo."""
    if " && " in command:
        _check_shaper(command.split(" && "))
        return
    words = shlex.split(command)
    tool, *arguments = words
    if tool == "sysctl":
        settings = arguments[1:] if arguments[0] == "-w" else arguments
        assert settings, command
        for setting in settings:
            match = _SYSCTL.fullmatch(setting)
            assert match, command
            key, value = match.groups()
            if key.endswith(("tcp_rmem", "tcp_wmem")):
                low, default, high = map(int, value.split(" "))
                assert 0 < low <= default <= high <= _MAX, command
            else:
                assert re.fullmatch(r"\d+|[a-z_]\w*", value), command
                assert not value.isdigit() or int(value) <= _MAX, command
    elif tool == "ip" and arguments[0] == "route":
        head, options = arguments[:7], arguments[7:]
        assert head == ["route", "change", "default", "via", "GATEWAY", "dev", "INTERFACE"], command
        for name, value in zip(options[::2], options[1::2], strict=True):
            pattern = {"congctl": r"[a-z]+", "rto_min": r"\d+ms"}.get(name, r"\d+")
            assert name in ("initcwnd", "window", "rto_min", "congctl", "advmss", "quickack"), command
            assert re.fullmatch(pattern, value), command
    elif tool == "ip":
        assert arguments[:4] == ["link", "set", "dev", "INTERFACE"], command
        assert arguments[4] == "gso_max_segs", command
        assert int(arguments[5]) > 0
    elif tool == "tc":
        assert arguments[:5] == ["qdisc", "replace", "dev", "INTERFACE", "root"], command
        name, *options = arguments[5:]
        if name == "tbf":
            assert re.fullmatch(r"rate [1-9]\d*kbit burst [1-9]\d* limit [1-9]\d*", " ".join(options))
            return
        assert name in ("fq", "fq_codel", "codel", "pie", "pfifo", "bfifo", "cake"), command
        if options:
            option = {"cake": "bandwidth", "pfifo": "limit", "bfifo": "limit", "fq": "maxrate"}.get(
                name
            )
            assert options[0] == option, command
            unit = "kbit" if name in ("cake", "fq") else ""
            assert re.fullmatch(rf"[1-9]\d*{unit}", options[1]), command
    else:
        assert tool in ("netsh", "kldload", "echo") or words[:2] == ["socket", "option"], command


def _check_shaper(commands: list[str]) -> None:
    """Checks HTB with a class for all packets, and the queue discipline of that class."""
    root, shaper, leaf = commands
    assert root == "tc qdisc replace dev INTERFACE root handle 1: htb default 1"
    assert re.fullmatch(
        r"tc class replace dev INTERFACE parent 1: classid 1:1 htb rate [1-9]\d*kbit", shaper
    )
    assert " parent 1:1 " in leaf
    check_command(leaf.replace("parent 1:1", "root"))


@pytest.mark.parametrize("field", [*systems()["linux"]["fields"]])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_line_of_each_field_is_a_command(field: str, seed: int) -> None:
    draw = random.Random(f"{field} {seed}")
    entry = systems()["linux"]["fields"][field]
    value = _VALUES[entry.get("unit", "")](draw)
    if field == "tcp.initial_window":
        value = str(draw.randint(1, 64))
    for scenario in (None, {}):
        host, _, command = linux_line(f"{field}={value}", scenario).partition(": ")
        assert host.startswith(("sender", "receiver", "both hosts"))
        check_command(command)


@pytest.mark.parametrize(
    "field", ["tcp.receive_buffer_max", "tcp.send_buffer_max", "tcp.receive_window_max"]
)
def test_a_size_that_no_sysctl_can_have_has_no_line(field: str) -> None:
    assert linux_line(f"{field}={_MAX}B").endswith((f" {_MAX}'", f" {_MAX}"))
    assert linux_line(f"{field}={_MAX + 1}B") == ""


@pytest.mark.parametrize("queue", ["droptail", "fq-codel", "codel", "pie"])
def test_queue_disciplines_and_shapers_are_commands(queue: str) -> None:
    for scenario in (None, {"path": {"down": {"rate": "20Mbit/s"}, "up": "3Mbit/s"}}):
        for command in re.findall(r"tc qdisc[^,;]*", linux_line(f"path.queue={queue}", scenario)):
            check_command(command.strip())
    hops: dict[str, Any] = {"path": {"wired": [{"queue": queue, "buffer": "100packets"}]}}
    line = linux_line("path.wired.0.rate=7.3Mbit/s", hops)
    check_command(line.partition(": ")[2].partition(", or ")[0])


def test_the_lines_of_each_cca_are_commands_or_lines_of_a_file() -> None:
    for cca in native_ccas():
        for command in linux_commands(cca):
            check_command(command)
        if line := cca_line(cca):
            check_command(line.partition(": ")[2])
        for block in settings_blocks(cca):
            for line in block.text.splitlines():
                check_command(f"sysctl -w {line.replace(' = ', '=')}" if " = " in line else line)
        if not describe_cca(cca)["linux"]:
            assert cca_line(cca) == ""


def test_the_window_of_a_report_has_three_sizes_in_order() -> None:
    for line in WindowLimit(0.9, 800.0, 120.0).block.text.splitlines():
        name, _, value = line.partition(" = ")
        check_command(f"sysctl -w {name}='{value}'")


def test_window_scaling_has_lines_of_other_systems() -> None:
    lines = other_system_lines("tcp.window_scale=true")
    assert [line.partition(",")[0] for line in lines] == ["Windows", "FreeBSD"]
    for line in lines:
        check_command(line.partition(": ")[2])
    assert other_system_lines("tcp.window_scale=7") == other_system_lines("tcp.tso=1") == []


def test_bounds_of_socket_options_are_commands() -> None:
    texts = socket_option_texts(["tcp.receive_buffer_max=90MB", "tcp.send_buffer_max=120MB"])
    commands = [re.search(r"sysctl -w \S+?=\d+", text) for text in texts]
    assert len(commands) == 2
    for command in commands:
        assert command is not None
        check_command(command[0])


@pytest.mark.parametrize("cause", CAUSES)
def test_the_commands_of_advice_are_such(cause: str) -> None:
    explained = ExplainedComparison(compared_with(cause, 1))
    for advice in explained.remedy_commands("results"):
        words = shlex.split(advice.partition("  # ")[0])
        assert words[:3] == ["celltcp", "compare", "results"]
        changes = [words[index + 1] for index, word in enumerate(words) if word == "--set"]
        assert all("=" in change for change in changes)
        for line in lines_of(advice)[1:]:
            for command in re.findall(r"(?:sysctl -w|ip route|ip link|tc qdisc) [^,(]+", line):
                check_command(command.strip())
