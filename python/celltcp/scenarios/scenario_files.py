"""Files that scenarios name, such as the trace of the cars on a motorway.

A stored scenario names files of the library relative to it (`vehicular/motorway.tcl`). So results are
the same on every machine, and can be read on another one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from celltcp._core import Scenario, is_too_deep

#: Folder of the built-in scenarios and their files.
LIBRARY = Path(__file__).parents[1] / "library"

#: Fields whose value is the path of a file.
_FILE_FIELDS = ("trace", "ns2", "fcd", "phone_log")


def read_scenario(
    text: str,
    origin: str,
    directory: Path,
    overrides: Sequence[str] = (),
    *,
    library: Path = LIBRARY,
) -> Scenario:
    """Parses a scenario. Its files are searched for in its folder, then in the library.

    Args:
        text: the scenario as TOML.
        origin: its name in errors.
        directory: base of relative paths.
        overrides: fields to override, as `"field=value"`.
        library: base of relative paths of files that are not in `directory`.

    Raises:
        CelltcpError: one line that names the file, the field, the value and what is allowed.
    """
    absolute = [
        f"{field}={library / name}"
        for field, name in _file_fields(text)
        if not (directory / name).is_file() and (library / name).is_file()
    ]
    scenario = Scenario.from_toml(text, origin, str(directory), [*absolute, *overrides])
    # An override may set a table with such a field. Without any field, no path is searched for, because
    # printing a scenario takes longer than reading it.
    may_name_files = any(field in source for source in (text, *overrides) for field in _FILE_FIELDS)
    return _with_library_paths(scenario) if may_name_files else scenario


def _with_library_paths(scenario: Scenario) -> Scenario:
    """Returns the scenario with the paths of library files relative to the library."""
    _, (text, directory, contents) = scenario.__reduce__()
    if not any(file.is_relative_to(LIBRARY) for file in contents):
        return scenario
    paths = {
        field: Path(name).relative_to(LIBRARY)
        for field, name in _file_fields(text)
        if Path(name).is_relative_to(LIBRARY)
    }
    # The folder is absolute: relative paths would change their meaning after pickling.
    folder = Path.cwd() / directory
    files: dict[str | Path, str] = {folder / file: content for file, content in contents.items()}
    files |= {folder / path: contents[LIBRARY / path] for path in paths.values()}
    changes = [f"{field}={path.as_posix()}" for field, path in paths.items()]
    return Scenario(text, folder, files).with_changes(changes)


def _file_fields(text: str) -> list[tuple[str, str]]:
    """Returns the fields of a scenario that name a file, each with that name; none of invalid TOML."""
    if is_too_deep(text):
        return []
    try:
        return list(_search(tomllib.loads(text)))
    except tomllib.TOMLDecodeError:
        return []


def _search(value: object, field: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _search(inner, f"{field}.{key}" if field else key)
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            yield from _search(inner, f"{field}.{index}")
    elif isinstance(value, str) and field.rpartition(".")[2] in _FILE_FIELDS:
        yield field, value
