"""Output of a command: its table or JSON, and pictures beside the results."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from celltcp.cli.verbosity import note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from celltcp._core import Scenario
    from celltcp.results.tables import Results
    from celltcp.scenarios.scenario_list import ScenarioList


#: Share of a trace that may be made up without a warning.
MOST_MADE_UP = 0.5


#: Transfers by direction.
_TRANSFERS = {"up": "an upload", "down": "a download"}


def check_json(json_file: str | None) -> None:
    """Makes sure, before anything runs, that the file of `--json` can be written, and none is lost."""
    if json_file not in (None, "-"):
        from celltcp.files.replacing import JSON, check_output

        check_output(Path(str(json_file)), JSON, inputs=other_names("json_file"))


def other_names(parameter: str) -> Iterator[str]:
    """Yields all texts that were given to the command but to one parameter: some may name files."""
    context = click.get_current_context(silent=True)
    for name, value in context.params.items() if context else ():
        texts = value if isinstance(value, tuple) else (value,)
        for text in texts if name != parameter else ():
            if isinstance(text, str) and text:
                yield from dict.fromkeys((text, *text.split(",")))


def print_trace_summary(scenario: Scenario, *, is_one: bool = True) -> None:
    """Says on standard error how the recorded traces of a scenario were read.

    Args:
        scenario: with the traces.
        is_one: whether there is no other scenario: warnings then need no name.
    """
    from celltcp.scenarios.scenarios import matching_uplink

    context = click.get_current_context(silent=True)
    given = context.params.get("uplink") if context else None
    files = {direction: str(file) for file, direction, *_ in scenario.traces}
    beside = None if given else matching_uplink(files.get("down", ""))
    for file, direction, summary, _, _ in scenario.traces:
        is_beside = direction == "up" and beside is not None and Path(file).name == beside.name
        result = " (found beside the downlink)" if is_beside else ""
        note(f"{direction}link {file}{result}: {summary}")
    whose = "" if is_one else f"{scenario.name}: "
    for text in _log_warnings(scenario):
        click.echo(f"warning: {whose}{text}", err=True)


def _log_warnings(scenario: Scenario) -> Iterator[str]:
    """Yields what may make the logs of a scenario no capacity of its links."""
    has_both = len(scenario.log_facts) > 1
    for direction, facts in scenario.log_facts:
        known = json.loads(facts)
        if held_back := known.get("held_back"):
            yield f"the {direction}link's log is no capacity: {held_back}"
        elif demand := known.get("looks_like_demand"):
            # Of a test in one direction, the rates of the other one are those of ACKs.
            instead = f"; --set path.{direction}=RATE takes its place" if has_both else ""
            yield f"the {direction}link's log looks like a demand, not a capacity: {demand}{instead}"
        if too_long := known.get("rtt_too_long"):
            yield f"base RTT of the {direction}link's log: {too_long}"
        if of := known.get("of_other_direction"):
            way = (
                ": --uplink FILE --set path.down=50Mbit/s --set flows.0.from=phone "
                "--set flows.0.to=server simulates uploads"
            )
            yield f"the log of the {direction}link is of {_TRANSFERS[of]}{way if of == 'up' else ''}"
        if (made_up := known["made_up"]) > MOST_MADE_UP:
            yield (
                f"{100 * made_up:.0f} % of the {direction}link's trace is made up: it has the rate of "
                "another time"
            )


def print_load_summary(scenarios: ScenarioList) -> None:
    """Says on standard error how the traces of scenarios were read, and which files were left out."""
    for source in scenarios.sources:
        print_trace_summary(source.scenario, is_one=len(scenarios.sources) == 1)
    for reason in scenarios.left_out:
        click.echo(f"warning: left out: {reason}", err=True)


def print_result(
    document: Callable[[], Mapping[str, object] | Sequence[object]],
    json_file: str | None,
    show: Callable[[], None],
) -> None:
    """Prints the JSON if that was asked for, and else shows the table; writes the file of `--json`.

    The file comes first: who reads the table may leave after its first lines.

    Args:
        document: makes what the JSON has; called only where there is some to write.
        json_file: file of `--json`, `"-"` for the standard output, or None.
        show: prints the table.
    """
    if json_file is None:
        show()
        return
    import json
    from dataclasses import asdict

    from celltcp.files.atomic_write import write_text

    # `default` is called for what is no JSON by itself: instances of data classes.
    default: Callable[[Any], object] = asdict
    text = json.dumps(document(), indent=1, allow_nan=False, default=default) + "\n"
    if json_file == "-":
        click.echo(text, nl=False)
    else:
        write_text(Path(json_file), text)
        show()


def is_drawn(results: Results, folder: Path, name: str) -> bool:
    """Returns whether the picture of earlier results can stay, and says so."""
    if not results.is_repeat:
        return False
    note(f"{folder} has these results already: nothing was run")
    return not has_style_options() and all(
        (folder / f"{name}.{ending}").is_file() for ending in ("png", "svg")
    )


def has_style_options() -> bool:
    """Returns whether --size, --style or --title was given, so that pictures are drawn again."""
    from celltcp.cli.options import STYLE_OPTIONS

    context = click.get_current_context(silent=True)
    return context is not None and any(context.params.get(look) is not None for look in STYLE_OPTIONS)


def draw(figure: Figure, folder: Path, name: str) -> None:
    """Saves a picture as PNG and SVG, and says where."""
    from celltcp.present.style import save_all

    for file in save_all(figure, [folder / f"{name}.{ending}" for ending in ("png", "svg")]):
        note(f"picture: {file}")
