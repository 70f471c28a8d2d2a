"""Scenarios by name, by file, or from a link trace alone."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path

from celltcp._core import CelltcpError, Scenario

#: Endings by which a file is taken for a link trace.
TRACE_ENDINGS = (".down", ".up", ".csv", ".mahimahi")


def scenario_names() -> list[str]:
    """Names of the built-in scenarios, sorted."""
    library = resources.files("celltcp") / "library"
    return sorted(
        entry.name.removesuffix(".toml") for entry in library.iterdir() if entry.name.endswith(".toml")
    )


def load_scenario(
    what: str | Path | Scenario,
    *,
    uplink: str | Path | None = None,
    duration: str | None = None,
    changes: Mapping[str, object] | Sequence[str] = (),
) -> Scenario:
    """Loads a scenario.

    Args:
        what: a built-in name, a scenario file (`.toml`), a link trace of the downlink, or a scenario
            that is loaded already, which stays as it is.
        uplink: a link trace of the uplink.
        duration: length of a run, such as `"60s"`.
        changes: fields to override, as a mapping or as `"field=value"` texts.

    Raises:
        CelltcpError: one line that names the file, the field, the value and what is allowed.
    """
    if isinstance(what, Scenario):
        return what
    name = str(what)
    overrides = override_texts(changes)
    if duration is not None:
        overrides.append(f"duration={duration}")
    if name.endswith(TRACE_ENDINGS):
        up = str(Path(uplink).resolve()) if uplink else None
        _must_exist(name)
        return Scenario.of_trace(str(Path(name).resolve()), up, overrides)
    if uplink is not None:
        overrides.append(f"path.up.trace={Path(uplink).resolve()}")
    if name in scenario_names():
        text = (resources.files("celltcp") / "library" / f"{name}.toml").read_text("utf-8")
        return Scenario.from_toml(text, name, ".", overrides)
    if name.endswith(".toml"):
        _must_exist(name)
        try:
            text = Path(name).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CelltcpError(f"{name}: {error}") from None
        return Scenario.from_toml(text, name, str(Path(name).parent), overrides)
    raise CelltcpError(unknown(name))


def override_texts(changes: Mapping[str, object] | Sequence[str]) -> list[str]:
    """Changes as the `field=value` texts that the scenario reader takes."""
    if isinstance(changes, Mapping):
        return [f"{field}={_toml(value)}" for field, value in changes.items()]
    return list(changes)


def unknown(name: str) -> str:
    """The message for a name that is no scenario."""
    names = scenario_names()
    near = difflib.get_close_matches(name, names, 1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return (
        f"scenario {name!r}: not a built-in name{hint}, nor a file that ends in .toml or in "
        f"{', '.join(TRACE_ENDINGS)}; built in are {', '.join(names)}"
    )


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _must_exist(name: str) -> None:
    if not Path(name).is_file():
        raise CelltcpError(f"{name}: there is no such file")
