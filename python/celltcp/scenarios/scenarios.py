"""Loading of scenarios: built-in ones by name, from files, and from link traces alone."""

from __future__ import annotations

import difflib
import functools
import itertools
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from celltcp._core import CelltcpError, Scenario
from celltcp.scenarios.changes import Changes, override_texts
from celltcp.scenarios.scenario_files import LIBRARY, read_scenario
from celltcp.scenarios.sides import is_upload
from celltcp.scenarios.stored import read_stored, stored_metadata, stored_scenario

if TYPE_CHECKING:
    from celltcp.scenarios.data_frames import ScenarioLike, TraceLike

#: Endings of link traces and logs; each may be followed by `.gz`. A file that is given by its own path
#: may have another ending.
TRACE_ENDINGS = (
    *(".down", ".up", ".csv", ".tsv", ".txt", ".mahimahi", ".json", ".jsonl", ".log"),
    *(".parquet", ".xlsx", ".ntrace"),
)

#: Sets of built-in scenarios, as patterns: the 12 mobility scenarios of atxutegi2018-thesis chapter 6
#: (36 cases with 3 requirements), the stress suite of selection, and the grid of short flows.
SETS = {"thesis36": "mobility/*", "stress": "stress/*", "short": "short/*@*"}

#: Folder of the variants of built-in scenarios: a file for each folder of the library with variants.
_VARIANTS = Path(__file__).parents[1] / "variants"


def scenario_names() -> list[str]:
    """Returns the names of the built-in scenarios: those without a folder, then folder by folder."""
    return list(_library_names())


@functools.cache
def _library_names() -> tuple[str, ...]:
    files = [file.relative_to(LIBRARY).with_suffix("") for file in LIBRARY.rglob("*.toml")]
    return tuple(
        file.as_posix() for file in sorted(files, key=lambda file: (file.parent.parts, file.name))
    )


def is_single_name(scenarios: Sequence[str]) -> bool:
    """Returns whether a list names one scenario, not a pattern, set or folder of scenarios."""
    if len(scenarios) != 1:
        return False
    (name,) = scenarios
    if name in scenario_names():
        return True
    if name in SETS or any(sign in name for sign in "*?[,"):
        return False
    return not Path(name).is_dir() or stored_scenario(name) is not None


def variants_of(folder: str) -> dict[str, dict[str, Any]]:
    """Returns the variants of the built-in scenarios in a folder of the library, by name.

    Keys are `description`, `set` and `axis`. Variants of different axes can be combined.
    """
    file = _VARIANTS / f"{folder}.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def all_variants(name: str) -> list[str]:
    """Returns all variants of a built-in scenario, as names with one variant of each axis."""
    axes = _axes(variants_of(name.rpartition("/")[0]))
    return [
        f"{name}@{'+'.join(variants)}" for variants in itertools.product(*axes.values()) if variants
    ]


def description(name: str) -> str:
    """Returns the description of the built-in scenario called `name`."""
    return str(tomllib.loads(_built_in(name).read_text("utf-8"))["description"])


def load_scenario(
    what: ScenarioLike,
    *,
    uplink: TraceLike | None = None,
    duration: str | float | None = None,
    changes: Changes = (),
    column: str | None = None,
    unit: str | None = None,
    direction: str | None = None,
    reading: Mapping[str, object] | None = None,
) -> Scenario:
    """Loads a scenario.

    Args:
        what: a built-in name, also with variants (`NAME@VARIANT`, `NAME@A+B`), a scenario file
            (`.toml`), its fields as a mapping (`{"path": {"rtt": 0.05}}`), a link trace of the downlink
            (a file or a data frame), a folder of results (its scenario), or a loaded scenario. Relative
            paths in the changes of a loaded scenario start at its file's folder.
        uplink: a link trace of the uplink, a file or a data frame. For `FILE.down` the default is
            `FILE.up` next to it, unless the direction or a field of `path.up` is given.
        duration: length of a run, such as `"60s"`, or a number of seconds.
        changes: fields to override, as a mapping or as `"field=value"` texts.
        column: columns of a link trace that is a table, `RATE` or `TIME,RATE`, by names or numbers.
        unit: units of a link trace that is a table, such as `"kbit/s"` or `"ms,kbit/s"`.
        direction: direction to read of a link trace that has both, `"down"` or `"up"`.
        reading: further options for reading a link trace, as a scenario has them next to `trace`:
            `holes`, `rates_end_at_row`, `step`, `run`, `dates`, `counter`, `format`.

    Raises:
        CelltcpError: one line that names the file, the field, the value and what is allowed.
    """
    what = _with_file(what)
    if uplink is not None and not isinstance(uplink, str | Path):
        from celltcp.scenarios.data_frames import trace_file

        uplink = trace_file(uplink)
    options = {"column": column, "unit": unit, "direction": direction, **(reading or {})}
    overrides = _read_option_overrides(what, options)
    overrides += override_texts(changes)
    if duration is not None:
        overrides += override_texts({"duration": duration})
    if isinstance(what, Scenario):
        if uplink is not None:
            overrides.append(f"path.up.trace={Path(uplink).resolve()}")
        return what.with_changes(overrides) if overrides else what
    name = str(what)
    if is_trace(name):
        _must_exist(name)
        if not uplink and direction is None and not _has_override(overrides, "path.up"):
            uplink = matching_uplink(name)
        uplink_trace = str(Path(uplink).resolve()) if uplink else None
        if uplink_trace is None and (replacing := _replacing_downlink(overrides)):
            raise CelltcpError(
                f"set: {replacing} replaces the rates of {name}, so that nothing is left of it; "
                f"allowed: with it --uplink {name}, or no {replacing}"
            )
        if name.endswith(".gz"):
            # A compressed trace has the name of the uncompressed one.
            overrides.insert(0, f"name={Path(name.removesuffix('.gz')).stem}")
        file = str(Path(name).resolve())
        loaded = Scenario.of_trace(file, uplink_trace, overrides)
        return _with_log_facts(loaded, file, options, overrides, has_uplink=bool(uplink_trace))
    if uplink is not None:
        overrides.append(f"path.up.trace={Path(uplink).resolve()}")
    built_in, _, variant = name.partition("@")
    if built_in in scenario_names():
        text = _built_in(built_in).read_text("utf-8")
        overrides = _variant_overrides(built_in, variant) + overrides if variant else overrides
        return read_scenario(text, name, Path(), overrides, library=_built_in(built_in).parent)
    if Path(name).is_dir() and (stored := stored_metadata(name)) is not None:
        return read_stored(stored, name, overrides)
    if name.endswith(".toml"):
        _must_exist(name)
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CelltcpError(f"{name}: {error}") from None
        return read_scenario(text, name, Path(name).parent, overrides)
    raise CelltcpError(unknown_error(name))


@dataclass(frozen=True)
class ScenarioSource:
    """Source of a scenario: a name, file or trace, with read options and overrides; loaded once.

    Attributes:
        what: as for `load_scenario`, like the attributes after it.
        radio_log: whether every TTI of the radio is recorded.
    """

    what: ScenarioLike
    changes: Changes = ()
    duration: str | float | None = None
    uplink: TraceLike | None = None
    column: str | None = None
    unit: str | None = None
    direction: str | None = None
    reading: Mapping[str, object] | None = None
    radio_log: bool = False

    @property
    def name(self) -> str:
        """Built-in name, or path of the file."""
        loaded = _with_file(self.what)
        return loaded.name if isinstance(loaded, Scenario) else str(loaded)

    @functools.cached_property
    def scenario(self) -> Scenario:
        """The scenario, loaded when it is first asked for.

        Raises:
            CelltcpError: names the file, the field, the value and what is allowed.
        """
        try:
            loaded = load_scenario(
                self.what,
                uplink=self.uplink,
                duration=self.duration,
                changes=self.changes,
                column=self.column,
                unit=self.unit,
                direction=self.direction,
                reading=self.reading,
            )
        except CelltcpError as error:
            if field := _radio_field(str(error)):
                raise CelltcpError(f"{self.name}: {error}; {field} is that of the radio") from None
            if fields := _uplink_fields(str(error)):
                raise CelltcpError(f"{error}; for the uplink, {fields}") from None
            raise
        return loaded.with_radio_log() if self.radio_log else loaded

    @property
    def assumptions(self) -> str:
        """RTT and buffers of the path that neither a trace nor a change gives; empty without a trace.

        The buffers are those in the directions of the flows.
        """
        if isinstance(self.what, Scenario) or not is_trace(self.name):
            return ""
        known = {override.partition("=")[0].strip() for override in override_texts(self.changes)}
        known |= {"path.rtt"} if _rtt_of_logs(self.scenario) else set()
        known |= {"path.buffer"} if self.buffer_of_log else set()
        scenario = tomllib.loads(self.scenario.to_toml())
        are_uploads = set(map(is_upload, scenario["flows"]))
        buffers = {"buffer": False, "uplink_buffer": True}
        names = ["rtt", *(name for name, is_up in buffers.items() if is_up in are_uploads)]
        fields = [field for field in names if f"path.{field}" not in known]
        path = scenario["path"]
        return ", ".join(f"path.{field}={path[field]}" for field in fields)

    @property
    def notes(self) -> list[str]:
        """How traces were read, and what the path has that neither they nor changes give."""
        if isinstance(self.what, Scenario) or not is_trace(self.name):
            return []
        read = [f"{way}link trace: {summary}" for _, way, summary, *_ in self.scenario.traces]
        assumed = f"assumed, as the trace has none of it (set=): {self.assumptions}"
        return [*read, *([assumed] if self.assumptions else [])]

    @property
    def rtt_of_log(self) -> str:
        """Change of the RTT by a log, as `path.rtt=48.000ms`; empty where a change gives another."""
        if isinstance(self.what, Scenario) or not is_trace(self.name):
            return ""
        is_given = _has_override(override_texts(self.changes), "path.rtt")
        return "" if is_given else _rtt_of_logs(self.scenario)

    @property
    def buffer_of_log(self) -> str:
        """Change of the buffer by overflows in a log, as `path.buffer=900packets`; else empty."""
        if isinstance(self.what, Scenario) or not is_trace(self.name):
            return ""
        is_given = _has_override(override_texts(self.changes), "path.buffer")
        return "" if is_given else _buffer_of_log(self.scenario)

    @functools.cached_property
    def left_out_uplink(self) -> str:
        """Reason why the uplink rates of a log are no capacity and left out; empty if they are not."""
        if isinstance(self.what, Scenario) or not is_trace(self.name) or self.column or self.direction:
            return ""
        facts = dict(self.scenario.log_facts)
        is_changed = _has_override(override_texts(self.changes), "path.up")
        if (
            "down" not in facts
            or "up" in facts
            or is_changed
            or not json.loads(facts["down"])["has_both"]
        ):
            return ""
        file = str(Path(self.name).resolve())
        return _uplink_demand(_with_uplink_of_log(self.scenario, file, self.reading or {}))

    def changed(self, *changes: str) -> ScenarioSource:
        """Returns the source with further fields overridden, as `"field=value"`."""
        return replace(self, changes=[*override_texts(self.changes), *changes])


def _radio_field(error: str) -> str:
    """Returns the buffer field of the radio for an error about a buffer of the path; else ""."""
    if "the access link is the radio's" not in error:
        return ""
    fields = ("buffer", "uplink_buffer")
    return next((f"radio.rlc.{field}" for field in fields if f" path.{field}:" in error), "")


def _uplink_fields(error: str) -> str:
    """Returns, for an error about the uplink's log, the fields in place of the options that it names.

    The options apply only to the log of the downlink.
    """
    if "path.up.trace: " not in error:
        return ""
    options = dict.fromkeys(re.findall(r"--(column|unit|step|dates|run|holes|counter)\b", error))
    return " or ".join(f"--set path.up.{name}=..." for name in options)


def _with_log_facts(
    scenario: Scenario,
    file: str,
    options: Mapping[str, object],
    overrides: Sequence[str],
    *,
    has_uplink: bool,
) -> Scenario:
    """Returns the scenario of a log with the base RTT and the uplink rates that the log has."""
    rtt = "" if _has_override(overrides, "path.rtt") else _rtt_of_logs(scenario)
    with_rtt = scenario.with_changes([rtt]) if rtt else scenario
    json_text = dict(scenario.log_facts).get("down")
    if json_text is None:
        return with_rtt
    facts = json.loads(json_text)
    is_chosen = options.get("column") or options.get("direction")
    if not _has_override(overrides, "path.buffer") and (buffer := _buffer_of_log(with_rtt)):
        with_rtt = with_rtt.with_changes([buffer])
    if not facts["has_both"] or has_uplink or is_chosen or _has_override(overrides, "path.up"):
        return with_rtt
    with_uplink = _with_uplink_of_log(with_rtt, file, options)
    return with_rtt if _uplink_demand(with_uplink) else with_uplink


def _rtt_of_logs(scenario: Scenario) -> str:
    """Returns the change of the RTT to that of the downlink's log, else of the uplink's; or empty."""
    facts = {direction: json.loads(text) for direction, text in scenario.log_facts}
    rtts_ms = (facts.get(direction, {}).get("base_rtt_ms") for direction in ("down", "up"))
    return next((f"path.rtt={rtt_ms:.3f}ms" for rtt_ms in rtts_ms if rtt_ms), "")


def _buffer_of_log(scenario: Scenario) -> str:
    """Returns the change that gives the buffer its size by overflows in the log; empty without any."""
    if not json.loads(dict(scenario.log_facts).get("down", "{}")).get("overflow_window"):
        return ""
    from celltcp.scenarios.overflown_buffer import overflown_buffer

    return overflown_buffer(scenario, "path.buffer")


def _with_uplink_of_log(scenario: Scenario, file: str, options: Mapping[str, object]) -> Scenario:
    """Returns the scenario of a log with the uplink rates of the same log."""
    return scenario.with_changes([f"path.up.trace={file}", *_trace_overrides("path.up", options)])


def _uplink_demand(scenario: Scenario) -> str:
    """Returns the reason why the uplink of a log is a demand and its downlink is none; else empty.

    A test of the downlink has its ACKs as rates of the uplink.
    """
    facts = {direction: json.loads(text) for direction, text in scenario.log_facts}
    if facts["down"]["looks_like_demand"]:
        return ""
    return facts["up"]["looks_like_demand"] or ""


def _has_override(overrides: Sequence[str], prefix: str) -> bool:
    return any(override.startswith(prefix) for override in overrides)


def _replacing_downlink(overrides: Sequence[str]) -> str:
    """Returns the first override that has rates of the downlink in place of a trace; empty for none."""
    fields = ("path.down", *(f"path.down.{each}" for each in ("rate", "steps", "generate", "trace")))
    changes = (override for override in overrides if override.partition("=")[0].strip() in fields)
    return next(changes, "")


def _variant_overrides(name: str, variant: str) -> list[str]:
    """Returns the overrides of a variant, and its name; none for a variant without changes."""
    variants = variants_of(name.rpartition("/")[0])
    parts = variant.split("+")
    axes = _axes(variants)
    chosen = [axis for axis, alternatives in axes.items() if not set(alternatives).isdisjoint(parts)]
    if len(chosen) < len(parts):
        allowed = ", ".join(f"{name}@{key}" for key in variants) or f"{name} without a variant"
        if len(axes) > 1:
            allowed += f", and one each of {', '.join(axes)} joined by +"
        raise CelltcpError(f"scenario {f'{name}@{variant}'!r}: allowed: {allowed}")
    changes = [change for part in parts for change in variants[part]["set"]]
    return [*changes, f"name={name}@{variant}"] if changes else []


def _axes(variants: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Returns the variants of each axis; those without an `axis` share one."""
    axes: dict[str, list[str]] = {}
    for variant, entry in variants.items():
        axes.setdefault(entry.get("axis", ""), []).append(variant)
    return axes


def is_trace(name: str) -> bool:
    """Returns whether a name has an ending of link traces, or is a file other than a scenario's."""
    if name.removesuffix(".gz").endswith(TRACE_ENDINGS):
        return True
    return not name.endswith(".toml") and name not in scenario_names() and Path(name).is_file()


def matching_uplink(name: str) -> Path | None:
    """Returns `FILE.up` or `FILE.up.gz` next to `FILE.down` or `FILE.down.gz`, or None."""
    # An uplink that is compressed like the downlink comes first.
    for ending, uplink_endings in ((".down", (".up", ".up.gz")), (".down.gz", (".up.gz", ".up"))):
        if name.endswith(ending):
            files = (Path(name.removesuffix(ending) + uplink) for uplink in uplink_endings)
            return next((file for file in files if file.is_file()), None)
    return None


def _trace_overrides(link: str, options: Mapping[str, object]) -> list[str]:
    """Returns the overrides that set the read options of the trace of a link, such as `"path.up"`."""
    return [
        f"{link}.{name}={json.dumps(value)}" for name, value in options.items() if value is not None
    ]


def _with_file(what: ScenarioLike) -> str | Path | Scenario:
    """Returns the path of a link trace for a data frame, and a scenario for its fields; else `what`."""
    if isinstance(what, str | Path | Scenario):
        return what
    if isinstance(what, Mapping):
        return read_scenario("", "scenario", Path(), override_texts(what))
    from celltcp.scenarios.data_frames import trace_file

    return trace_file(what)


def _read_option_overrides(what: str | Path | Scenario, options: Mapping[str, object]) -> list[str]:
    """Returns the overrides for read options; rejects options if the scenario is no trace."""
    options = {name: value for name, value in options.items() if value is not None}
    if options and (isinstance(what, Scenario) or not is_trace(str(what))):
        name = next(iter(options))
        raise CelltcpError(
            f"{name}: {options[name]!r} is given, but the scenario is no link trace; for a trace that "
            f"a scenario names, set path.down.{name}"
        )
    return _trace_overrides("path.down", options)


def unknown_error(name: str) -> str:
    """Returns the error text for a name that is no scenario."""
    matches = difflib.get_close_matches(name, scenario_names(), 1)
    hint = f" (did you mean {matches[0]!r}?)" if matches else ""
    missing = "" if Path(name).exists() else "there is no such file or built-in name; "
    return (
        f"scenario {name!r}: {missing}allowed: a built-in name{hint}, which celltcp scenarios lists, "
        f"or a file that ends in .toml or in {', '.join(TRACE_ENDINGS)} (also with .gz)"
    )


def _built_in(name: str) -> Path:
    return LIBRARY / f"{name}.toml"


def _must_exist(name: str) -> None:
    if not Path(name).is_file():
        raise CelltcpError(f"{name}: there is no such file")
