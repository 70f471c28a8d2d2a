"""Synonyms of options: names of other tools, such as iperf3's `--parallel`, and of earlier versions."""

from __future__ import annotations

import click

#: Option by its name in other tools or earlier versions.
_SYNONYMS = {
    **dict.fromkeys(("time", "runtime", "sim-time", "stop", "length", "seconds"), "--duration"),
    **dict.fromkeys(("congestion", "congestion-control", "cong", "cc", "algorithm", "tcp"), "--cca"),
    **dict.fromkeys(("repeat", "repetitions", "iterations", "trials", "times", "count"), "--runs"),
    **dict.fromkeys(("output", "output-dir", "outdir", "dir", "save"), "--out"),
    **dict.fromkeys(("threads", "workers", "cores", "processes"), "--jobs"),
    **dict.fromkeys(("metric", "rank", "sort", "key"), "--by"),
    **dict.fromkeys(("field", "param", "parameter", "option"), "--set"),
    # Names before version 0.2.
    "decide": "--rerun-undecided",
    "era": "--historic-ccas",
    "hold": "--discard-for",
    "known": "--extend",
    "least": "--min-samples-leaf",
    "leaves": "--max-leaves",
    "moments": "--samples",
    "notes": "--tags",
    "own": "--cca-file",
    "switches": "--switch-cost",
    "whole": "--full-runs",
}


def with_suggestion(error: click.NoSuchOption) -> click.UsageError:
    """Returns the error about an unknown option, with the equivalent option if there is one."""
    command = error.ctx.command if error.ctx else None
    options = {name for param in (command.params if command else ()) for name in param.opts}
    name = error.option_name.lstrip("-").replace("_", "-")
    equivalent = _SYNONYMS.get(name, "")
    if equivalent not in options:
        equivalent = _set_argument(name) if "--set" in options else ""
    if not equivalent:
        return error
    return click.UsageError(
        f"No such option {error.option_name!r}. Did you mean {equivalent!r}?", error.ctx
    )


def _set_argument(name: str) -> str:
    """Returns the --set argument that is equivalent to an option; empty without one."""
    from celltcp._core import field_meant

    field = field_meant(name)
    return f"--set {field}=VALUE" if field else ""
