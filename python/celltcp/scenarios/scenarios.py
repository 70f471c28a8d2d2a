"""Scenarios by name, by file, or from a link trace alone."""

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

if TYPE_CHECKING:
    from celltcp.scenarios.data_frames import ScenarioLike

#: Endings of link traces and logs in a folder; each may be followed by `.gz`. A file that is named
#: itself may have any.
TRACE_ENDINGS = (
    *(".down", ".up", ".csv", ".tsv", ".txt", ".mahimahi", ".json", ".jsonl", ".log"),
    *(".parquet", ".xlsx", ".ntrace"),
)

#: Sets of built-in scenarios: the 12 mobility scenarios of atxutegi2018-thesis chapter 6, which with 3
#: requirements are its 36 cases, the stress suite of selection, and the grid of short flows.
SETS = {"thesis36": "mobility/*", "stress": "stress/*", "short": "short/*@*"}

#: Folder of the variants: a file for each folder of the library that has some.
_VARIANTS = Path(__file__).parents[1] / "variants"


def scenario_names() -> list[str]:
    """Names of the built-in scenarios, sorted: those without a folder, then folder by folder."""
    return list(_names_in(LIBRARY))


@functools.cache
def _names_in(folder: Path) -> tuple[str, ...]:
    files = [file.relative_to(folder).with_suffix("") for file in folder.rglob("*.toml")]
    return tuple(
        file.as_posix() for file in sorted(files, key=lambda file: (file.parent.parts, file.name))
    )


def is_single_name(given: Sequence[str]) -> bool:
    """Returns whether a list names a single scenario, not a pattern, set or folder."""
    if len(given) != 1:
        return False
    (name,) = given
    if name in scenario_names():
        return True
    if name in SETS or any(sign in name for sign in "*?[,"):
        return False
    return not Path(name).is_dir() or _of_results(name) is not None


def _of_results(folder: str) -> str | None:
    """Returns the scenario of the results in a folder as TOML; None where there are none."""
    # Imported here, as few commands read stored results.
    from celltcp.scenarios.stored import stored_scenario

    return stored_scenario(folder)


def variants_of(folder: str) -> dict[str, dict[str, Any]]:
    """Returns the variants of the built-in scenarios in a folder: name, `description` and `set`.

    Those that go together, one of each, have an `axis`.
    """
    file = _VARIANTS / f"{folder}.toml"
    return tomllib.loads(file.read_text("utf-8")) if file.is_file() else {}


def all_variants(name: str) -> list[str]:
    """Returns the names of all variants of a built-in scenario; those of several axes are combined."""
    axes = _axes(variants_of(name.rpartition("/")[0]))
    return [f"{name}@{'+'.join(each)}" for each in itertools.product(*axes.values()) if each]


def description(name: str) -> str:
    """Returns the description of the built-in scenario called `name`."""
    return str(tomllib.loads(_built_in(name).read_text("utf-8"))["description"])


def load_scenario(
    what: ScenarioLike,
    *,
    uplink: str | Path | None = None,
    duration: str | float | None = None,
    changes: Changes = (),
    column: str | None = None,
    unit: str | None = None,
    direction: str | None = None,
    reading: Mapping[str, object] | None = None,
) -> Scenario:
    """Loads a scenario.

    Args:
        what: a built-in name, also with a variant (`NAME@VARIANT`) or several (`NAME@A+B`), a scenario
            file (`.toml`), a link trace of the downlink, a folder of results, which stands for their
            scenario, or a scenario that is loaded already; relative files in its changes count from
            the folder of its file.
        uplink: a link trace of the uplink. Beside `FILE.down` it is `FILE.up`, unless another one, the
            direction or a field of `path.up` is given.
        duration: length of a run, such as `"60s"`, or a number of seconds.
        changes: fields to override, as a mapping or as `"field=value"` texts.
        column: columns of a link trace that is a table, `RATE` or `TIME,RATE`, by names or numbers.
        unit: units of a link trace that is a table, such as `"kbit/s"` or `"ms,kbit/s"`.
        direction: of a link trace with both: whose rates are read, `"down"` or `"up"`.
        reading: further options for reading a link trace, as a scenario has them next to `trace`:
            `holes`, `rates_end_at_row`, `step`, `run`, `dates`, `counter`, `format`.

    Raises:
        CelltcpError: one line that names the file, the field, the value and what is allowed.
    """
    what = _frame_as_file(what)
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
        is_told = direction is not None or any(override.startswith("path.up") for override in overrides)
        taken = uplink or (None if is_told else matching_uplink(name))
        up = str(Path(taken).resolve()) if taken else None
        if name.endswith(".gz"):
            # A compressed trace has the name of the uncompressed one.
            overrides.insert(0, f"name={Path(name.removesuffix('.gz')).stem}")
        loaded = Scenario.of_trace(str(Path(name).resolve()), up, overrides)
        return _with_log_facts(
            loaded, str(Path(name).resolve()), options, overrides, has_uplink=bool(up)
        )
    if uplink is not None:
        overrides.append(f"path.up.trace={Path(uplink).resolve()}")
    built_in, _, variant = name.partition("@")
    if built_in in scenario_names():
        file = _built_in(built_in)
        text = file.read_text("utf-8")
        overrides = _of_variant(built_in, variant) + overrides if variant else overrides
        return read_scenario(text, name, Path(), overrides, library=file.parent)
    if Path(name).is_dir() and (stored := _of_results(name)) is not None:
        return read_scenario(stored, name, Path(), overrides)
    if name.endswith(".toml"):
        _must_exist(name)
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CelltcpError(f"{name}: {error}") from None
        return read_scenario(text, name, Path(name).parent, overrides)
    raise CelltcpError(unknown(name))


@dataclass(frozen=True)
class ScenarioSource:
    """Source of a scenario: a name, file or trace, with read options and overrides; loaded once.

    Attributes:
        what: as for `load_scenario`, as are the others.
        radio_log: whether every TTI of the radio is recorded.
    """

    what: ScenarioLike
    changes: Changes = ()
    duration: str | float | None = None
    uplink: str | Path | None = None
    column: str | None = None
    unit: str | None = None
    direction: str | None = None
    reading: Mapping[str, object] | None = None
    radio_log: bool = False

    @property
    def name(self) -> str:
        """Built-in name, or path of the file."""
        return self.what.name if isinstance(self.what, Scenario) else str(_frame_as_file(self.what))

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
            if instead := _radio_field(str(error)):
                raise CelltcpError(f"{self.name}: {error}; {instead} is that of the radio") from None
            if fields := _fields_of_uplink(str(error)):
                raise CelltcpError(f"{error}; for the uplink, {fields}") from None
            raise
        return loaded.with_radio_log() if self.radio_log else loaded

    @property
    def assumptions(self) -> str:
        """Settings of the path that neither a trace nor a change gives; empty for a scenario."""
        if isinstance(self.what, Scenario) or not is_trace(self.name):
            return ""
        facts = dict(self.scenario.log_facts).get("down")
        has_rtt = facts is not None and json.loads(facts)["base_rtt_ms"]
        given = {override.partition("=")[0].strip() for override in override_texts(self.changes)}
        given |= {"path.rtt"} if has_rtt else set()
        fields = [field for field in ("rtt", "buffer") if f"path.{field}" not in given]
        if not fields:
            return ""
        path = tomllib.loads(self.scenario.to_toml())["path"]
        return ", ".join(f"path.{field}={path[field]}" for field in fields)

    def changed(self, *changes: str) -> ScenarioSource:
        """Returns the source with further fields overridden, as `"field=value"`."""
        return replace(self, changes=[*override_texts(self.changes), *changes])


def _radio_field(error: str) -> str:
    """Returns the radio's field that replaces a buffer of the path, which a radio scenario rejects."""
    if "the access link is the radio's" not in error:
        return ""
    fields = ("buffer", "uplink_buffer")
    return next((f"radio.rlc.{field}" for field in fields if f" path.{field}:" in error), "")


def _fields_of_uplink(error: str) -> str:
    """Returns the fields in place of the options that an error about the uplink's log names.

    The options are for the log of the downlink.
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
    """Returns the scenario of a log with its base RTT, and with its rates of the uplink."""
    facts = dict(scenario.log_facts).get("down")
    if facts is None:
        return scenario
    known = json.loads(facts)
    more = []
    if known["base_rtt_ms"] and not any(override.startswith("path.rtt") for override in overrides):
        more.append(f"path.rtt={known['base_rtt_ms']:.3f}ms")
    is_chosen = options.get("column") or options.get("direction")
    if known["has_both"] and not (
        has_uplink or is_chosen or any(override.startswith("path.up") for override in overrides)
    ):
        more += [f"path.up.trace={file}", *_overrides_of("path.up", options)]
    return scenario.with_changes(more) if more else scenario


def _of_variant(name: str, variant: str) -> list[str]:
    """Returns the overrides of a variant, with its name where it differs from the default."""
    known = variants_of(name.rpartition("/")[0])
    parts = variant.split("+")
    axes = _axes(known)
    chosen = [axis for axis, variants in axes.items() if not set(variants).isdisjoint(parts)]
    if len(chosen) < len(parts):
        allowed = ", ".join(f"{name}@{each}" for each in known) or f"{name} without a variant"
        if len(axes) > 1:
            allowed += f", and one each of {', '.join(axes)} joined by +"
        raise CelltcpError(f"scenario {f'{name}@{variant}'!r}: allowed: {allowed}")
    changes = [change for part in parts for change in known[part]["set"]]
    return [*changes, f"name={name}@{variant}"] if changes else []


def _axes(known: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Returns the variants of each axis; those without one are alternatives of a single axis."""
    axes: dict[str, list[str]] = {}
    for variant, entry in known.items():
        axes.setdefault(entry.get("axis", ""), []).append(variant)
    return axes


def is_trace(name: str) -> bool:
    """Returns whether a name is a link trace's: an ending of one, or a file that is no scenario."""
    if name.removesuffix(".gz").endswith(TRACE_ENDINGS):
        return True
    return not name.endswith(".toml") and name not in scenario_names() and Path(name).is_file()


def matching_uplink(name: str) -> Path | None:
    """Returns the trace of the uplink that goes with the file of a downlink, if there is one."""
    for packed in ("", ".gz"):
        ending = f".down{packed}"
        if name.endswith(ending):
            for other in (packed, "" if packed else ".gz"):
                beside = Path(f"{name.removesuffix(ending)}.up{other}")
                if beside.is_file():
                    return beside
    return None


def _overrides_of(link: str, options: Mapping[str, object]) -> list[str]:
    """Returns overrides with the options for reading the trace of a link."""
    return [
        f"{link}.{name}={json.dumps(value)}" for name, value in options.items() if value is not None
    ]


def _frame_as_file(what: ScenarioLike) -> str | Path | Scenario:
    """Returns a scenario; a data frame as the file of a link trace."""
    if isinstance(what, str | Path | Scenario):
        return what
    from celltcp.scenarios.data_frames import trace_file

    return trace_file(what)


def _read_option_overrides(what: str | Path | Scenario, options: Mapping[str, object]) -> list[str]:
    """Returns overrides with the read options of a trace that is given as the scenario."""
    given = {name: value for name, value in options.items() if value is not None}
    if given and (isinstance(what, Scenario) or not is_trace(str(what))):
        name = next(iter(given))
        raise CelltcpError(
            f"{name}: {given[name]!r} is given, but the scenario is no link trace; for a trace that a "
            f"scenario names, set path.down.{name}"
        )
    return _overrides_of("path.down", given)


def unknown(name: str) -> str:
    """Returns the error for a name that is no scenario."""
    near = difflib.get_close_matches(name, scenario_names(), 1)
    hint = f" (did you mean {near[0]!r}?)" if near else ""
    return (
        f"scenario {name!r}: allowed: a built-in name{hint}, which celltcp scenarios lists, or a file "
        f"that ends in .toml or in {', '.join(TRACE_ENDINGS)} (also with .gz)"
    )


def _built_in(name: str) -> Path:
    return LIBRARY / f"{name}.toml"


def _must_exist(name: str) -> None:
    if not Path(name).is_file():
        raise CelltcpError(f"{name}: there is no such file")
