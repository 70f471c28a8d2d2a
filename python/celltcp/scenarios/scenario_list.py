"""Lists of scenarios from names, files, folders of recordings and sets."""

from __future__ import annotations

import fnmatch
import glob
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.scenarios.scenarios import (
    SETS,
    TRACE_ENDINGS,
    ScenarioSource,
    all_variants,
    scenario_names,
)
from celltcp.scenarios.stored import stored_scenario

#: Endings of files that are scenarios; a trace of the uplink goes with that of the downlink, and texts
#: in a folder may be notes.
_ENDINGS = (
    ".toml",
    *(ending for ending in TRACE_ENDINGS if ending not in (".up", ".txt")),
    *(f"{ending}.gz" for ending in TRACE_ENDINGS if ending != ".up"),
)


@dataclass(frozen=True)
class ScenarioList:
    """The scenarios that a list names, all of them loaded."""

    sources: tuple[ScenarioSource, ...]
    #: Files in folders that could not be loaded, and why.
    left_out: tuple[str, ...]

    @property
    def by_name(self) -> dict[str, ScenarioSource]:
        """The sources by their short names, or by their full names if short ones are ambiguous."""
        short = [short_name(source.name) for source in self.sources]
        return {
            name if short.count(name) == 1 else source.name: source
            for name, source in zip(short, self.sources, strict=True)
        }


def expand_scenarios(
    given: str | Sequence[str], source_of: Callable[[str], ScenarioSource] = ScenarioSource
) -> ScenarioList:
    """Returns the scenarios that a list names, each once.

    Args:
        given: built-in names, scenario files, link traces, folders of them, patterns such as
            `"mobility/*"` or `"mobility/*@ns3"`, and the sets `"thesis36"`, `"stress"` and `"short"`,
            as a list or in texts with commas. A trace of the uplink goes with that of the downlink.
        source_of: makes the source of a name or file, with the changes to apply.

    Raises:
        CelltcpError: if a name is no scenario, or the list is empty.
    """
    names: dict[str, bool] = {}
    for piece in itertools.chain.from_iterable(map(_split, names_of(given))):
        for name, in_folder in _expanded(piece):
            names.setdefault(name, in_folder)
    sources = []
    left_out = []
    for name, in_folder in names.items():
        source = source_of(name)
        try:
            _ = source.scenario
            sources.append(source)
        except CelltcpError as error:
            if not in_folder:
                raise
            left_out.append(str(error) if name in str(error) else f"{name}: {error}")
    if not sources:
        reason = f"; {left_out[0]}" if left_out else ""
        raise CelltcpError(f"scenarios: {given!r} names no scenario that can be loaded{reason}")
    return ScenarioList(tuple(sources), tuple(left_out))


def names_of(given: str | Sequence[str]) -> list[str]:
    """Returns the names in a list, or in one text with commas, each once."""
    pieces = given.split(",") if isinstance(given, str) else given
    return list(dict.fromkeys(piece.strip() for piece in pieces if piece.strip()))


def _split(name: str) -> list[str]:
    """Returns the names in an argument, which may have commas."""
    return [name] if Path(name).exists() else names_of(name)


def short_name(name: str) -> str:
    """Returns the short name of a source: the last two parts of its name, without the ending."""
    parts = name.rsplit("/", 2)[-2:]
    plain = "/".join(parts).removesuffix(".gz")
    ending = next((each for each in (".toml", *TRACE_ENDINGS) if plain.endswith(each)), "")
    return plain.removesuffix(ending)


def _expanded(piece: str) -> list[tuple[str, bool]]:
    """Returns names of scenarios, and whether they were found in a folder."""
    pattern = SETS.get(piece, piece)
    if any(sign in pattern for sign in "*?["):
        built_in = scenario_names()
        if "@" in pattern:
            built_in = [variant for name in built_in for variant in all_variants(name)]
        names = [name for name in built_in if fnmatch.fnmatchcase(name, pattern)]
        # Unlike Path.glob, this takes absolute patterns.
        matches = sorted(glob.glob(pattern))  # noqa: PTH207
        files = [file for file in matches if file.endswith(_ENDINGS)]
        if not names and not files:
            raise CelltcpError(
                f"scenarios: {piece!r} matches no built-in scenario and no file; celltcp scenarios "
                "lists the built-in ones"
            )
        return [(name, False) for name in (*names, *files)]
    if piece not in scenario_names() and Path(piece).is_dir() and stored_scenario(piece) is None:
        # A compressed file of another kind is loaded too, so that the error has the reason.
        endings = (*_ENDINGS, ".gz")
        matches = [str(file) for file in sorted(Path(piece).rglob("*"))]
        files = [file for file in matches if file.endswith(endings) and not file.endswith(".up.gz")]
        if not files:
            raise CelltcpError(
                f"scenarios: {piece}: the folder holds no file that ends in {', '.join(_ENDINGS)}"
            )
        return [(file, True) for file in files]
    return [(piece, False)]
