"""Library files that scenarios name, such as the trace of the cars on a motorway.

A scenario names them from the folder of the library (`vehicular/motorway.tcl`) wherever it is written
down, so that results are the same on every machine and can be read on another one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from celltcp._core import Scenario, is_too_deep

#: Folder of the built-in scenarios and of the files that they name.
LIBRARY = Path(__file__).parents[1] / "library"

#: Fields whose value is a file.
_FIELDS = ("trace", "ns2", "fcd", "phone_log")


def read_scenario(
    text: str,
    origin: str,
    directory: Path,
    overrides: Sequence[str] = (),
    *,
    library: Path = LIBRARY,
) -> Scenario:
    """Reads a scenario; its files are looked for in its folder, then in the library.

    Args:
        text: the scenario as TOML.
        origin: its name in errors.
        directory: folder that relative paths of its files start from.
        overrides: fields to override, as `"field=value"`.
        library: folder for files that are not in `directory`.

    Raises:
        CelltcpError: one line that names the file, the field, the value and what is allowed.
    """
    absolute = [
        f"{field}={library / name}"
        for field, name in _named_in(text)
        if not (directory / name).is_file() and (library / name).is_file()
    ]
    scenario = Scenario.from_toml(text, origin, str(directory), [*absolute, *overrides])
    # An override may set a table with such a field. Without any, shortening is skipped, as printing a
    # scenario takes longer than reading it.
    found_files = any(field in each for each in (text, *overrides) for field in _FIELDS)
    return _shortened(scenario) if found_files else scenario


def _shortened(scenario: Scenario) -> Scenario:
    """Returns the scenario with the files of the library named from its folder."""
    _, (text, directory, texts) = scenario.__reduce__()
    if not any(file.is_relative_to(LIBRARY) for file in texts):
        return scenario
    found_files = [(field, Path(name)) for field, name in _named_in(text)]
    short = {
        field: name.relative_to(LIBRARY) for field, name in found_files if name.is_relative_to(LIBRARY)
    }
    # The folder is absolute: relative paths would change their meaning after pickling.
    folder = Path.cwd() / directory
    known: dict[str | Path, str] = {folder / file: content for file, content in texts.items()}
    known |= {folder / name: texts[LIBRARY / name] for name in short.values()}
    changes = [f"{field}={name.as_posix()}" for field, name in short.items()]
    return Scenario(text, folder, known).with_changes(changes)


def _named_in(text: str) -> list[tuple[str, str]]:
    """Returns the fields of a scenario that name a file, each with the name."""
    if is_too_deep(text):
        return []
    try:
        return list(_files(tomllib.loads(text)))
    except tomllib.TOMLDecodeError:
        return []


def _files(value: object, field: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            yield from _files(each, f"{field}.{key}" if field else key)
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _files(each, f"{field}.{index}")
    elif isinstance(value, str) and field.rpartition(".")[2] in _FIELDS:
        yield field, value
