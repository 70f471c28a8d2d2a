"""Bad words of auto and bad files of policies: one line, exit code 2, nothing half-written."""

from __future__ import annotations

from pathlib import Path

import pytest

HEAD = 'name = "mine"\ndescription = "A test."\n'
FIXED = '[method.fixed]\ncca = "reno"\n'
LEAF = """
[[method.tree.trees.nodes]]
take = ["reno"]
parts = { reno = [0.5, 0.5, 1.0] }
cases = 3
"""


def tree(below: int, start: int, threshold: str = "1.0", feature: str = "age") -> str:
    """A policy of one tree whose first node leads to the nodes `below` and `start`."""
    return f"""{HEAD}
[method.tree]
features = ["{feature}"]

[[method.tree.trees]]
requirement = "delay"
moment = "flight"

[[method.tree.trees.nodes]]
feature = "{feature}"
threshold = {threshold}
below = {below}
from = {start}
{LEAF}"""


def rule(condition: str) -> str:
    """A policy of one rule under this condition."""
    return f"""{HEAD}
[[method.rules.rules]]
requirements = ["delay"]
when = [{{ {condition} }}]
choose = ["reno"]
because = "test"
"""


WORDS = {
    "policy": ("policy=rulez", "rulez", "thesis-inflight"),
    "missing file": ("policy=none.toml", "none.toml", "thesis-inflight"),
    "parameter": ("polcy=rules", "polcy", "requirement"),
    "requirement": ("policy=rules,requirement=speed", "requirement", '"speed"', "delay"),
    "weights": ("policy=rules,requirement=1/2", "requirement", '"1/2"', "1/5/1"),
    "hints": ("policy=rules,hints=maybe", "hints", "maybe", "on, off"),
    "flow size": ("policy=rules,flow_size=big", "flow_size", "big", "300kB"),
    "preferred": ("policy=rules,prefer=bbr/cubix", "prefer", '"cubix"', "reno"),
    "fixed": ("policy=fixed,cca=cubix", "cca", '"cubix"', "reno"),
    "fixed what selects": ("policy=rules,cca=bbr", "cca", '"bbr"', '"rules"', "fixed"),
    "memory": ("policy=bpftune,memory=none.toml", "none.toml", "the file of a memory"),
    "preferred of nobody": ("prefer=bbr/cubic", "prefer", "bbr/cubic", '"default"', "rules and tables"),
    "twice": ("requirement=delay,requirement=goodput", '"requirement"', "more than once"),
    "size without unit": ("flow_size=0", "flow_size", '"0"', "300kB"),
    "plus in a name": ("policy=a+b.toml", "policy=a", "comma or a plus sign"),
    "comma in a name": ("policy=a,b.toml", "policy=a", "comma or a plus sign"),
    "no setting": ("rules", '"rules"', "parameter=value"),
}

FILES = {
    "no toml": ("certainly no policy\n", "line 1"),
    "empty": ("", "name"),
    "unknown field": (f"{HEAD}colour = 3\n{FIXED}", "colour"),
    "unknown method": (f'{HEAD}[method.dice]\ncca = "reno"\n', "dice", "fixed"),
    "congestion control": (HEAD + FIXED.replace("reno", "cubix"), "method.fixed.cca", "cubix", "reno"),
    "default": (f'{HEAD}default = "cubix"\n{FIXED}', "default", '"cubix"', "reno"),
    "two methods": (f"{HEAD}{FIXED}[method.rules]\nrules = []\n", "method", "fixed and rules", "tree"),
    "no rules": (f"{HEAD}[method.rules]\nrules = []\n", "method.rules.rules", "one rule or more"),
    "not its requirement": (rule('feature = "age", below = 1.0'), "requirement", '"balanced"', "delay"),
    "tuning": (f"{HEAD}{FIXED}[tuning]\ndwell = -1\n", "tuning.dwell", "-1", "0 to"),
    "tuning without end": (f"{HEAD}{FIXED}[tuning]\njudge = inf\n", "tuning.judge", "inf", "0.1 to"),
    "feature": (rule('feature = "weather", below = 1.0'), "when[0].feature", "weather", "base_rtt"),
    "trained feature": (tree(1, 1, feature="weather"), "features[0]", "weather", "base_rtt"),
    "loop": (tree(0, 1), "nodes[0].below", "0"),
    "nowhere": (tree(1, 7), "nodes[0].from", "7"),
    "out of reach": (tree(1, 1) + LEAF, "nodes[2]", "no node leads here"),
    "moment twice": (
        tree(1, 1) + tree(1, 1).split("]\n\n", 1)[1],
        "trees[1].moment",
        "start and flight",
    ),
    "moment": (tree(1, 1).replace('"flight"', '"later"'), "later", "start", "flight"),
    "threshold": (tree(1, 1, threshold="nan"), "nodes[0].threshold", "NaN"),
    "bound": (rule('feature = "age", below = nan'), "when[0].below", "NaN"),
    "asterisk": (
        f"""{HEAD}
[method.table]
equals = []
[[method.table.cells]]
movement = "static"
speed = "60"
latency = "4g"
goodput = "reno"
balanced = "reno"
delay = "*"
""",
        "cells[0].delay",
        "method.table.equals",
    ),
    "no value between": (rule('feature = "age", at_least = 3.0, below = 2.0'), "when[0].below", "2"),
}

MEMORIES = {
    "endless": ("min_rtt_ms = inf", "phone.min_rtt_ms", "inf", "0 to 120000"),
    "no number": ("min_rtt_ms = nan", "phone.min_rtt_ms", "NaN", "0 to 120000"),
    "less than nothing": ("min_rtt_ms = -5.0", "phone.min_rtt_ms", "-5", "0 to 120000"),
    "congestion control": ("ccas.cubix.cost = 1.0", "phone.ccas.cubix", '"cubix"', "reno"),
    "cost": ("ccas.cubic.cost = -3", "phone.ccas.cubic.cost", "-3", "from 0"),
}

SWITCHES = {
    "switch": (
        'flows.0={cca={name="auto",policy="rules"},switch=[{at="5s",to="bbr"}]}',
        "flows.0.switch",
        "none with auto",
    ),
    "to": ('flows.0.switch=[{at="5s",to="auto:policy=rules"}]', "flows.0.switch.0.to", "auto"),
}


def check(done, tmp_path: Path, parts: tuple[str, ...]) -> None:
    assert done.returncode == 2
    lines = done.stderr.strip().splitlines()
    assert len(lines) == 1, done.stderr
    assert all(part in lines[0] for part in parts), lines[0]
    assert not (tmp_path / "out").exists() or not list((tmp_path / "out").iterdir())


@pytest.mark.parametrize("case", WORDS)
def test_words_after_auto(celltcp, tmp_path: Path, case: str) -> None:
    words, *parts = WORDS[case]
    done = celltcp("compare", "drive", "--cca", f"auto:{words}", "--out", "out")
    check(done, tmp_path, tuple(parts))


@pytest.mark.parametrize("case", FILES)
def test_files_of_policies(celltcp, tmp_path: Path, case: str) -> None:
    text, *parts = FILES[case]
    (tmp_path / "mine.toml").write_text(text)
    done = celltcp("compare", "drive", "--cca", "auto:policy=mine.toml", "--out", "out")
    check(done, tmp_path, ("mine.toml", *parts))


@pytest.mark.parametrize("case", MEMORIES)
def test_files_of_memories(celltcp, tmp_path: Path, case: str) -> None:
    line, *parts = MEMORIES[case]
    (tmp_path / "known.toml").write_text(f"[destinations.phone]\n{line}\n")
    done = celltcp("compare", "drive", "--cca", "auto:memory=known.toml", "--out", "out")
    check(done, tmp_path, ("known.toml", "destinations", *parts))


@pytest.mark.parametrize("case", SWITCHES)
def test_auto_and_switches(celltcp, tmp_path: Path, case: str) -> None:
    change, *parts = SWITCHES[case]
    done = celltcp("run", "drive", "--set", change)
    check(done, tmp_path, tuple(parts))


def test_a_policy_in_toml_of_another_version_is_refused_by_its_line(celltcp, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'{HEAD}method = {{\n  fixed = {{ cca = "reno" }},\n}}\n')
    done = celltcp("select", "evaluate", "--scenarios", "drive", "--runs", "1", "--policy", "mine.toml")
    assert done.returncode == 2
    message = done.stderr.splitlines()[-1]
    assert message.startswith("celltcp: mine.toml: ")
    assert message.endswith("(at line 3, column 11); allowed: TOML 1.0")
