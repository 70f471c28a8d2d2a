"""Options shared by several commands, and their conversion to settings."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable
from typing import Any

import click
from click.shell_completion import CompletionItem

from celltcp._core import NATIVE
from celltcp.campaign.engines import ENGINES, MAX_SEED
from celltcp.cli.verbosity import note_early
from celltcp.scenarios.ccas import DEFAULT_CCAS, DEFAULT_LIST, MIDDLEBOXES

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def complete_middlebox(
    _context: click.Context, _parameter: click.Parameter, prefix: str
) -> list[CompletionItem]:
    """Returns shell completions for the last kind in a list of middleboxes."""
    start = max(prefix.rfind(","), prefix.rfind("@")) + 1
    earlier, kind = prefix[:start], prefix[start:]
    return [CompletionItem(earlier + name) for name in MIDDLEBOXES if name.startswith(kind)]


def _warn_about_cluster(context: click.Context, _: click.Parameter, address: str | None) -> str | None:
    if address is not None and not context.resilient_parsing:
        note_early(
            f"{address}: scheduler and workers exchange pickled Python, which runs as code on each "
            "side; use only a cluster that you trust"
        )
    return address


#: Options by the name of their setting or parameter.
_OPTIONS: dict[str, dict[str, Any]] = {
    "uplink": {
        "metavar": "FILE",
        "help": "Link trace of the uplink. Default: FILE.up next to FILE.down.",
    },
    "column": {
        "metavar": "[TIME,]RATE",
        "help": "Columns of a tabular (CSV) link trace: names, or numbers counted from 1.",
    },
    "unit": {
        "metavar": "UNIT",
        "help": "Units of these columns, such as kbit/s or ms,kbit/s.",
    },
    "direction": {
        "type": click.Choice(["down", "up"]),
        "help": "Direction to read from a link trace that has both.",
    },
    "holes": {
        "type": click.Choice(["cut", "hold", "zero"]),
        "help": "Time that a log did not measure: left out, with the rate before it, or without any.  "
        "[default: cut]",
    },
    "rates_end_at_row": {
        "name": "--rates-end-at-row/--rates-begin-at-row",
        "default": None,
        "help": "Whether a rate of a log is that of the time before its row or after it.  "
        "[default: after]",
    },
    "step": {
        "metavar": "TIME",
        "help": "Length of a row of a log without times, such as 1s.",
    },
    "run": {
        "metavar": "COLUMN=VALUE",
        "help": "Rows to read of a log: those of a run, or PINGAVG=- for those without a ping.  "
        "[default: all, one after another]",
    },
    "dates": {
        "type": click.Choice(["dmy", "mdy", "ymd"]),
        "help": "Order of day and month in the dates of a log.",
    },
    "counter": {
        "name": "--counter/--no-counter",
        "default": None,
        "help": "Whether a column of bytes adds up.  [default: if it never falls]",
    },
    "duration": {
        "metavar": "TIME",
        "help": "Simulated length of a run, such as 60s.  [default: that of the scenario]",
    },
    "changes": {
        "name": "--set",
        "multiple": True,
        "metavar": "FIELD=VALUE",
        "help": "Override a field of the scenario, such as path.buffer=2bdp, or remove it, such as "
        "path.policer=unset; may be repeated.",
    },
    "seed": {
        "default": 1,
        "type": click.IntRange(0, MAX_SEED),
        "metavar": "N",
        "help": "Seed of the first run; each further run has the next one.",
    },
    "engine": {
        "default": NATIVE,
        "type": click.Choice(ENGINES),
        "help": "Engine that runs TCP: celltcp's own TCP, or a Linux kernel in virtual time.",
    },
    "kernel": {
        "metavar": "VERSION",
        "help": "Version of the Linux kernel for the kernel engine.  [default: the newest built]",
    },
    "cca": {
        "default": DEFAULT_LIST,
        "show_default": False,
        "metavar": "LIST",
        "help": "Congestion controls: names (bbr), with parameters (cubic:hystart=off), or for several "
        "flows at a time (cubic+bbr). all: every CCA of the engine; own: the CCAs of the scenario.  "
        f"[default: {','.join(DEFAULT_CCAS)}, with that of the scenario's first flow]",
    },
    "middlebox": {
        "metavar": "LIST",
        "help": "Middleboxes on the path, each congestion control through each: "
        f"{', '.join(MIDDLEBOXES)}; with parameters (es:at=node-1), chains (split:at=node-1@es).  "
        "[default: those of the scenario]",
        "shell_complete": complete_middlebox,
    },
    "runs": {
        "default": 10,
        "type": click.IntRange(1),
        "metavar": "N",
        "help": "Number of runs of each congestion control, each with a seed of its own.",
    },
    "jobs": {
        "type": click.IntRange(1),
        "metavar": "N",
        "help": "Number of runs at the same time.  [default: all cores that the process may use]",
    },
    "cluster": {
        "metavar": "ADDRESS",
        "callback": _warn_about_cluster,
        "help": "Address of a Dask scheduler, such as tcp://host:8786; its workers execute the runs.  "
        "[default: this machine does]",
    },
    "dry_run": {
        "is_flag": True,
        "help": "Dry run: print the number of runs, CPU time and output size, estimated from short "
        "pilot runs.",
    },
    "out": {
        "metavar": "DIR",
        "help": "Keep the results in this folder: tables and pictures. Existing runs are reused.",
    },
    "overwrite": {
        "is_flag": True,
        "help": "Overwrite the --out folder, even if it holds another experiment.",
    },
    "size": {"metavar": "WxH", "help": "Width and height of the picture in inches, such as 8x5."},
    "style": {
        "metavar": "STYLE",
        "help": "Style of the picture: paper (column width, serifs, hatches), or one of matplotlib by "
        "its name or file.",
    },
    "title": {"metavar": "TEXT", "help": "Title of the picture."},
    "json_file": {
        "name": "--json",
        "metavar": "FILE",
        "help": "Write the results as JSON to FILE; - prints them instead of the table.",
    },
    "as_json": {"name": "--json", "is_flag": True, "help": "Print JSON in place of the table."},
    "by": {
        "multiple": True,
        "metavar": "METRIC[:FLOW]",
        "help": "Rank by this metric, of this flow, such as response_p99_s:game; may be repeated.",
    },
    "radio_log": {
        "is_flag": True,
        "help": "Record every transmission interval (TTI) of the radio, some 2000 rows per second.",
    },
    "scenarios": {
        "default": "thesis36",
        "metavar": "LIST",
        "help": "Scenarios: built-in names, files, folders of traces, patterns such as 'mobility/*'; "
        "thesis36 stands for the mobility scenarios of the thesis, stress for the stress suite, short "
        "for short flows.",
    },
    "requirement": {
        "default": "goodput,balanced,delay",
        "metavar": "LIST",
        "help": "Requirements by which the best is found: goodput, balanced, delay; select evaluate "
        "also takes fct, power, goodput@100ms, delay@2Mbps and weights of utilisation/delay/losses, "
        "such as 1/5/1.",
    },
}


def option(setting: str, **other: Any) -> Decorator:
    """Returns the option of a setting; `other` overrides its attributes (default, help and so on)."""
    # A default that is described in the help is not printed twice; another one is.
    shown = {"show_default": True} if "default" in other else {}
    attributes = {**_OPTIONS[setting], **shown, **other}
    name = attributes.pop("name", f"--{setting.replace('_', '-')}")
    return click.option(name, setting, **attributes)


def options(*settings: str) -> Decorator:
    """Returns a decorator that adds the options of these settings, in this order."""

    def decorate(command: Callable[..., Any]) -> Callable[..., Any]:
        for setting in reversed(settings):
            command = option(setting)(command)
        return command

    return decorate


def takes_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Passes all options that are settings of runs to a command as one object, `settings`."""

    @functools.wraps(command)
    def call(**kwargs: Any) -> Any:
        from celltcp.campaign.run_settings import RunSettings

        names = {field.name for field in dataclasses.fields(RunSettings)}
        settings = RunSettings(**{name: kwargs.pop(name) for name in names & kwargs.keys()})
        if kwargs.get("dry_run"):
            # A dry run writes nothing to a folder.
            settings = dataclasses.replace(settings, out=None)
        return command(settings=settings, **kwargs)

    return call


def complete_scenario(
    _context: click.Context, _parameter: click.Parameter, prefix: str
) -> list[CompletionItem]:
    """Returns completions of `prefix` for the shell: built-in names and files."""
    from celltcp.scenarios.scenarios import scenario_names

    names = [CompletionItem(name) for name in scenario_names() if name.startswith(prefix)]
    # Files first: bash forgets what came before them.
    return [CompletionItem(prefix, type="file"), *names]


#: Options for reading a log, other than --column, --unit and --direction.
_READING_OPTIONS = ("holes", "rates_end_at_row", "step", "run", "dates", "counter")


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds options for reading a trace; the rare ones become the parameter `reading`."""

    @functools.wraps(command)
    def call(*args: Any, **kwargs: Any) -> Any:
        reading = {name: kwargs.pop(name) for name in _READING_OPTIONS}
        given = {name: value for name, value in reading.items() if value is not None}
        return command(*args, reading=given or None, **kwargs)

    return options("column", "unit", "direction", *_READING_OPTIONS)(call)


def _loading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds options for reading a trace, --duration, --set, --seed, --engine and --kernel."""
    command = options("duration", "changes", "seed", "engine", "kernel")(command)
    return option("uplink")(reading_options(command))


def scenario_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds SCENARIO, options for its trace, --duration, --set, --seed, --engine and --kernel."""
    return click.argument("scenario", shell_complete=complete_scenario)(_loading_options(command))


def scenarios_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the same as `scenario_options`, but one SCENARIO or several."""
    argument = click.argument(
        "scenarios", metavar="SCENARIO...", nargs=-1, required=True, shell_complete=complete_scenario
    )
    return argument(_loading_options(command))


def _register_files(context: click.Context, __: click.Parameter, files: tuple[str, ...]) -> None:
    # Shell completion must not run the file.
    if context.resilient_parsing:
        return
    for file in files:
        from celltcp.scenarios.own_cca import register_file

        note_early(f"{file}: runs as code of celltcp, with all your rights")
        register_file(file)


#: Adds --cca-file, which registers Python classes before names of congestion controls are read.
cca_file_option = click.option(
    "--cca-file",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_register_files,
    metavar="FILE",
    help="Python file or Rust library (.so) that defines a CCA for --cca. Repeatable.",
)

#: Options for the style of pictures.
STYLE_OPTIONS = ("size", "style", "title")


def draws(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds --size, --style and --title, which apply to the pictures that a command draws."""

    @functools.wraps(command)
    def call(*args: Any, size: str | None, style: str | None, title: str | None, **kwargs: Any) -> Any:
        if size is style is title is None:
            return command(*args, **kwargs)
        from celltcp.present.style import styled

        with styled(size, style, title):
            return command(*args, **kwargs)

    return options(*STYLE_OPTIONS)(call)


#: Adds the options of campaigns: CCAs, runs, where they run, and output.
campaign_options = options("cca", "runs", "jobs", "cluster", "dry_run", "out", "overwrite", "json_file")


def case_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options of cases: scenarios, requirements, workers, --kernel, --set and --json."""
    changes_help = "Override a field in all scenarios, such as path.buffer=2bdp; may be repeated."
    command = option("changes", help=changes_help)(option("json_file")(command))
    return options("scenarios", "requirement", "seed", "jobs", "cluster", "kernel")(command)
