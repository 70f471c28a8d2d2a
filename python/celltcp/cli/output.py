"""Output of a command: its table or JSON, and pictures in the folder of the results."""

from __future__ import annotations

import collections
import json
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from celltcp.cli.verbosity import note, progress_bar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from matplotlib.figure import Figure

    from celltcp._core import Scenario
    from celltcp.campaign.cost_estimate import CostEstimate
    from celltcp.results.tables import Results
    from celltcp.scenarios.scenario_list import ScenarioList
    from celltcp.scenarios.scenarios import ScenarioSource

_Outcome_co = TypeVar("_Outcome_co", covariant=True)

#: Largest imputed share of a trace without a warning.
_MAX_IMPUTED_SHARE = 0.5

#: Minimum share of segments that a test sent again for a warning: if they are random losses, NewReno
#: and CUBIC get some 13 Mbit/s at an RTT of 50 ms (RFC 9438 section 5).
_MIN_LOSS = 5e-4
#: Maximum difference of an RTT in a scenario from that of its log, which it has rounded, ms.
_MAX_ROUNDED_MS = 1e-3
#: Fields of `path` with the random loss of each direction.
_LOSS_FIELDS = {"down": "loss", "up": "uplink_loss"}
#: Names of transfers by direction.
_TRANSFERS = {"up": "an upload", "down": "a download"}


class _Request(Protocol[_Outcome_co]):
    """Checked request for runs."""

    def estimate(self) -> CostEstimate: ...
    def run(self, progress: Callable[[float], None] | None) -> _Outcome_co: ...


def run_request(request: _Request[_Outcome_co], label: str, *, dry_run: bool) -> _Outcome_co:
    """Runs a request with a progress bar; a dry run prints the estimated cost and ends the command."""
    if dry_run:
        click.echo(request.estimate())
        click.get_current_context().exit()
    with progress_bar(label) as progress:
        return request.run(progress)


def check_json(json_file: str | None) -> None:
    """Checks before the runs that the --json file is writable and replaces no input or foreign file."""
    if json_file not in (None, "-"):
        from celltcp.files.replacing import JSON, check_output

        check_output(Path(str(json_file)), JSON, inputs=other_arguments("json_file"))


def other_arguments(parameter: str) -> Iterator[str]:
    """Yields the text arguments of all parameters but one, as possible names of input files."""
    context = click.get_current_context(silent=True)
    for name, value in context.params.items() if context else ():
        texts = value if isinstance(value, tuple) else (value,)
        for text in texts if name != parameter else ():
            if isinstance(text, str) and text:
                yield from dict.fromkeys((text, *text.split(",")))


def print_trace_summary(scenario: Scenario, *, is_only_scenario: bool = True) -> None:
    """Prints on stderr how traces were read; warnings name the scenario unless it is the only one."""
    if not scenario.traces:
        return
    from celltcp.logs.summaries import SEPARATOR, parts_of
    from celltcp.scenarios.scenarios import matching_uplink

    context = click.get_current_context(silent=True)
    uplink_option = context.params.get("uplink") if context else None
    files = {direction: str(file) for file, direction, *_ in scenario.traces}
    match = None if uplink_option else matching_uplink(files.get("down", ""))
    for file, direction, summary, _duration_s, _mean_mbps in scenario.traces:
        is_match = direction == "up" and match is not None and Path(file).name == match.name
        suffix = " (matched to the downlink file)" if is_match else ""
        facts = SEPARATOR.join(parts_of(summary).facts)
        note(f"{direction}link {file}{suffix}: {facts}")
    prefix = "" if is_only_scenario else f"{scenario.name}: "
    for text in _log_warnings(scenario):
        click.echo(f"warning: {prefix}{text}", err=True)


def print_assumptions(source: ScenarioSource) -> None:
    """Prints on stderr the assumed settings of the path, which neither trace nor options give."""
    _print_left_out_uplink(source)
    if rtt := source.rtt_of_log:
        note(f"{rtt}, from the log (--set)")
    if buffer := source.buffer_of_log:
        note(f"{buffer}, from the log's Cwnd (--set)")
    _print_assumed([source])


def _print_assumed(sources: Sequence[ScenarioSource]) -> None:
    """Prints on stderr the settings that sources assume: those of several traces in one line."""
    texts = [source.assumptions for source in sources]
    for assumed, count in collections.Counter(filter(None, texts)).items():
        traces = "the trace has" if len(texts) == 1 else "the traces have"
        if count < len(texts):
            traces = f"{count} of {len(texts)} traces have"
        note(f"assumed, as {traces} none of it (--set): {assumed}")


def _print_left_out_uplink(source: ScenarioSource, prefix: str = "") -> None:
    """Prints on stderr a warning if the uplink rates of a log are left out."""
    if reason := source.left_out_uplink:
        up = tomllib.loads(source.scenario.to_toml())["path"]["up"]["rate"]
        click.echo(
            f"warning: {prefix}the uplink's log looks like a demand, not a capacity: {reason}; it is "
            f"left out, and path.up is {up}. --set path.up.trace={source.name} has it all the same",
            err=True,
        )


def _log_warnings(scenario: Scenario) -> Iterator[str]:
    """Yields warnings about logs whose rates, RTTs or losses are not those of the link."""
    from celltcp._core import in_unit
    from celltcp.scenarios.lower_bounds import is_of_capture
    from celltcp.scenarios.quantity_texts import digits_text, three_digits

    has_both = len(scenario.log_facts) > 1
    document = tomllib.loads(scenario.to_toml())
    if is_of_capture(document):
        # The trace is an estimate of the capacity already, not the log of a test.
        return
    path = document["path"]
    for direction, facts in scenario.log_facts:
        link_facts = json.loads(facts)
        if held_back := link_facts.get("held_back"):
            yield f"the {direction}link's log does not show the capacity: {held_back}"
        elif demand := link_facts.get("looks_like_demand"):
            # In a test of one direction, the other direction carries ACKs only.
            hint = f"; set the capacity with --set path.{direction}=RATE" if has_both else ""
            yield f"the {direction}link's log looks like a demand, not a capacity: {demand}{hint}"
        too_long, base_rtt_ms = link_facts.get("rtt_too_long"), link_facts.get("base_rtt_ms")
        if too_long and abs((in_unit(path["rtt"], "ms") or 0.0) - base_rtt_ms) < _MAX_ROUNDED_MS:
            yield f"base RTT of the {direction}link's log: {too_long}"
        loss, field = link_facts.get("bbr_loss") or 0.0, _LOSS_FIELDS[direction]
        if loss >= _MIN_LOSS and not path.get(field):
            yield (
                f"the test of the {direction}link's log, under BBR, sent "
                f"{three_digits(100 * loss)} % of its segments again. The simulation has no random "
                "losses, which decide what other CCAs get: try "
                f"--set path.{field}={digits_text(100 * loss, 1)}%"
            )
        if transfer := link_facts.get("of_other_direction"):
            files = {each_direction: str(file) for file, each_direction, *_ in scenario.traces}
            hint = f": {_upload_command(scenario, files[direction])}" if transfer == "up" else ""
            text = f"the {direction}link's log was recorded during {_TRANSFERS[transfer]}"
            if transfer == "up" and link_facts["is_client_presumed"]:
                text += ", if iperf's client was the phone (otherwise --direction down)"
            yield f"{text}{hint}"
        if (imputed := link_facts["made_up"]) > _MAX_IMPUTED_SHARE:
            yield (
                f"{100 * imputed:.0f} % of the {direction}link's trace is imputed: filled with rates "
                "of other times"
            )


def _upload_command(scenario: Scenario, log: str) -> str:
    """Returns the command that simulates uploads over a log, with the changes of the present one."""
    from celltcp.scenarios.overflown_buffer import overflown_buffer

    context = click.get_current_context(silent=True)
    changes = context.params.get("changes") or () if context else ()
    arguments = ["celltcp", "compare", log, "--uplink", log]
    buffer = overflown_buffer(scenario, "path.uplink_buffer")
    facts = json.loads(dict(scenario.log_facts).get("down", "{}"))
    base_rtt_ms = None if facts.get("rtt_too_long") else facts.get("base_rtt_ms")
    all_changes = (
        *("path.down=50Mbit/s", "flows.0.from=phone", "flows.0.to=server"),
        *([f"path.rtt={base_rtt_ms:.3f}ms"] if base_rtt_ms else ()),
        *([buffer] if buffer else ()),
        *(each for each in changes if isinstance(each, str)),
    )
    # Each field has its last change.
    for change in {each.partition("=")[0]: each for each in all_changes}.values():
        arguments += ["--set", change]
    return f"{shlex.join(arguments)} simulates uploads"


def print_load_summary(scenarios: ScenarioList) -> None:
    """Prints on stderr how the traces of scenarios were read, and which files were left out."""
    for source in scenarios.sources:
        is_only_scenario = len(scenarios.sources) == 1
        print_trace_summary(source.scenario, is_only_scenario=is_only_scenario)
        _print_left_out_uplink(source, "" if is_only_scenario else f"{source.scenario.name}: ")
    _print_assumed(scenarios.sources)
    for reason in scenarios.left_out:
        click.echo(f"warning: left out: {reason}", err=True)


def print_result(
    document: Callable[[], Mapping[str, object] | Sequence[object]],
    json_file: str | None,
    show: Callable[[], None],
) -> None:
    """Prints the table, or with `--json -` the JSON; with another `--json` file, writes that as well.

    The file is written first: the reader of the table may close the pipe early.

    Args:
        document: returns the content of the JSON; called only if JSON is written.
        json_file: file of `--json`, `"-"` for the standard output, or None.
        show: prints the table.
    """
    if json_file is None:
        show()
        return
    from dataclasses import asdict

    from celltcp.files.atomic_write import write_text

    # `default` is called for values that JSON cannot represent: instances of data classes.
    default: Callable[[Any], object] = asdict
    text = json.dumps(document(), indent=1, allow_nan=False, default=default) + "\n"
    if json_file == "-":
        click.echo(text, nl=False)
    else:
        write_text(Path(json_file), text)
        show()


def reuse_picture(results: Results, folder: Path, name: str) -> bool:
    """Returns whether the picture of reused results is up to date; prints that nothing was run."""
    if not results.is_repeat:
        return False
    note(f"{folder} has these results already: nothing was run")
    return not has_style_options() and all(
        (folder / f"{name}.{ending}").is_file() for ending in ("png", "svg")
    )


def has_style_options() -> bool:
    """Returns whether --size, --style or --title is used, so that pictures must be drawn again."""
    from celltcp.cli.options import STYLE_OPTIONS

    context = click.get_current_context(silent=True)
    return context is not None and any(context.params.get(name) is not None for name in STYLE_OPTIONS)


def draw(figure: Figure, folder: Path, name: str) -> None:
    """Saves a picture as PNG and SVG, and prints the files."""
    from celltcp.present.style import save_all

    for file in save_all(figure, [folder / f"{name}.{ending}" for ending in ("png", "svg")]):
        note(f"picture: {file}")
