"""Lists of scenarios: names, files, folders, patterns and sets, expanded to scenarios."""

from __future__ import annotations

import fnmatch
import glob
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celltcp._core import CelltcpError
from celltcp.files.natural_order import in_natural_order
from celltcp.scenarios.scenarios import (
    SETS,
    TRACE_ENDINGS,
    ScenarioSource,
    all_variants,
    scenario_names,
)
from celltcp.scenarios.stored import stored_scenario

if TYPE_CHECKING:
    from celltcp.scenarios.data_frames import ScenarioLike

#: Endings by which files of folders and patterns are scenarios. A trace of the uplink belongs to that
#: of the downlink, and `.txt` files may be notes.
_ENDINGS = (
    ".toml",
    *(ending for ending in TRACE_ENDINGS if ending not in (".up", ".txt")),
    *(f"{ending}.gz" for ending in TRACE_ENDINGS if ending != ".up"),
)


@dataclass(frozen=True)
class ScenarioList:
    """The scenarios of a list, all of them loaded."""

    sources: tuple[ScenarioSource, ...]
    #: Errors of files in folders that could not be loaded.
    left_out: tuple[str, ...]

    @property
    def by_name(self) -> dict[str, ScenarioSource]:
        """The sources by their short names, or by their full names if short ones are ambiguous."""
        short_names = [short_name(source.name) for source in self.sources]
        return {
            name if short_names.count(name) == 1 else source.name: source
            for name, source in zip(short_names, self.sources, strict=True)
        }


def expand_scenarios(
    scenarios: str | Sequence[ScenarioLike],
    source_of: Callable[[ScenarioLike], ScenarioSource] = ScenarioSource,
) -> ScenarioList:
    """Returns the scenarios of a list, each once.

    Args:
        scenarios: a list of texts with commas, or one such text. Items are built-in names, scenario
            files, link traces, and folders of these. Patterns such as `"mobility/*"` or
            `"mobility/*@ns3"`, and the sets `"thesis36"`, `"stress"` and `"short"` are items, too, and
            so are loaded scenarios, their fields and data frames.
        source_of: returns the source of a scenario, with the changes to apply.

    Raises:
        CelltcpError: if an item is no scenario, two have one name, or none can be loaded.
    """
    listed: dict[str, tuple[ScenarioSource, bool]] = {}
    for item in [scenarios] if isinstance(scenarios, str) else scenarios:
        if isinstance(item, str | Path):
            for name, from_folder in _names_of(str(item)):
                listed.setdefault(name, (source_of(name), from_folder))
        elif (source := source_of(item)).name in listed:
            raise CelltcpError(
                f"scenarios: two are called {source.name!r}; allowed: names that differ (field name)"
            )
        else:
            listed[source.name] = (source, False)
    sources = []
    left_out = []
    for name, (source, from_folder) in listed.items():
        try:
            _ = source.scenario
            sources.append(source)
        except CelltcpError as error:
            if not from_folder:
                raise
            left_out.append(str(error) if name in str(error) else f"{name}: {error}")
    if not sources:
        reason = f"; {left_out[0]}" if left_out else ""
        raise CelltcpError(f"scenarios: {scenarios!r} names no scenario that can be loaded{reason}")
    return ScenarioList(tuple(sources), tuple(left_out))


def _names_of(text: str) -> Iterator[tuple[str, bool]]:
    """Yields the names or files of a text with commas, each with whether it is from a folder.

    A path may contain commas.
    """
    for item in [text] if Path(text).exists() else split_names(text):
        yield from _expand(item)


def split_names(names: str | Sequence[str]) -> list[str]:
    """Returns the names in a list, or in one text with commas, each once."""
    names = names.split(",") if isinstance(names, str) else names
    return list(dict.fromkeys(name.strip() for name in names if name.strip()))


def short_name(name: str) -> str:
    """Returns the last two parts of the name of a source, without the ending."""
    plain = "/".join(name.rsplit("/", 2)[-2:]).removesuffix(".gz")
    ending = next((suffix for suffix in (".toml", *TRACE_ENDINGS) if plain.endswith(suffix)), "")
    return plain.removesuffix(ending)


def _expand(item: str) -> list[tuple[str, bool]]:
    """Returns the names or files of an item, each with whether it is from a folder."""
    pattern = SETS.get(item, item)
    if any(sign in pattern for sign in "*?["):
        built_in = scenario_names()
        if "@" in pattern:
            built_in = [variant for name in built_in for variant in all_variants(name)]
        names = [name for name in built_in if fnmatch.fnmatchcase(name, pattern)]
        # Unlike Path.glob, glob.glob accepts absolute patterns.
        matches = in_natural_order(glob.glob(pattern))  # noqa: PTH207
        files = [file for file in matches if file.endswith(_ENDINGS)]
        if not names and not files:
            raise CelltcpError(
                f"scenarios: {item!r} matches no built-in scenario and no file; celltcp scenarios "
                "lists the built-in ones"
            )
        return [(name, False) for name in (*names, *files)]
    if item not in scenario_names() and Path(item).is_dir() and stored_scenario(item) is None:
        # Other compressed files are included, so that an error says why they are no scenarios.
        endings = (*_ENDINGS, ".gz")
        matches = in_natural_order(Path(item).rglob("*"))
        files = [file for file in matches if file.endswith(endings) and not file.endswith(".up.gz")]
        if not files:
            raise CelltcpError(
                f"scenarios: {item}: the folder holds no file that ends in {', '.join(_ENDINGS)}"
            )
        return [(file, True) for file in files]
    return [(item, False)]
