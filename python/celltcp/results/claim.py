"""Claims: one command at a time writes to a folder, and replaces nothing that it does not continue."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError
from celltcp.labels import counted
from celltcp.locks import LockTaken, locked
from celltcp.results.folder import PARTS, about_in, prepare_folder
from celltcp.results.keys import Keys
from celltcp.written import writing_to

#: Pictures that commands draw beside results, as patterns of names without endings.
_PICTURES = (
    *("overview", "throughput-delay", "ecdf", "ecdf-grid", "spider", "time-series", "startup"),
    *("run", "sweep", "cases"),
    *("by-position", "by-mcs", "by-phase", "explain", "explain-[0-9]*"),
)
_ENDINGS = ("png", "svg", "pdf")

#: Name of the file that is locked.
_LOCK = ".celltcp-lock"


@contextmanager
def claimed(folder: str | Path) -> Iterator[Path]:
    """Makes the folder and keeps other commands from writing to it.

    Raises:
        CelltcpError: if another command writes to it, or it cannot be written.
    """
    target = prepare_folder(folder)
    with ExitStack() as held:
        try:
            held.enter_context(locked(target / _LOCK))
        except LockTaken as taken:
            process = f" (process {taken.holder})" if taken.holder else ""
            raise CelltcpError(
                f"{folder}: another celltcp command{process} writes to this folder; wait for it, or "
                "give another one"
            ) from None
        held.enter_context(writing_to(target))
        yield target


def check_replaceable(
    folder: Path, planned: Mapping[str, Any], files: Sequence[str], *, overwrite: bool
) -> None:
    """Makes sure that results in a folder are part of those that are to come, or may be replaced.

    Args:
        folder: where results are to go; it need not be there.
        planned: origin of the results to come, with the keys of their runs.
        files: names of the files that will be written.
        overwrite: whether anything may be replaced.

    Raises:
        CelltcpError: says what is there, and in what it differs.
    """
    if overwrite:
        return
    there = about_in(folder)
    keys = Keys.told_by(planned) or Keys(())
    if there is None:
        foreign = [name for name in (*files, *_names_of_pictures(folder)) if (folder / name).exists()]
        if foreign:
            raise CelltcpError(
                f"{folder / foreign[0]}: is there, and no result of celltcp that this command "
                "continues; give another folder, or --overwrite to replace it"
            )
    elif (kept_keys := Keys.told_by(there)) is None or not keys.has(kept_keys):
        ccas, runs = ", ".join(there.get("cca", [])), counted(there.get("runs", 0), "run")
        kept = f"{ccas}; {runs} from seed {there.get('seed')}, {there.get('engine')}"
        raise CelltcpError(
            f"{folder}: holds finished results of {there.get('name')} ({kept}), which this command "
            f"would replace: {_difference(there, planned)}; give another folder, or --overwrite to "
            "replace them"
        )
    begun = keys_of_parts(folder)
    if not all(key in keys for key in begun):
        raise CelltcpError(
            f"{folder / PARTS}: holds finished runs of another command that was interrupted; repeat "
            "that one, give another folder, or --overwrite to remove them"
        )


def _difference(there: Mapping[str, Any], planned: Mapping[str, Any]) -> str:
    """Returns why results do not contain those that are there."""
    missing = [cca for cca in there.get("cca", []) if cca not in planned["cca"]]
    last = [about.get("seed", 0) + about.get("runs", 0) for about in (there, planned)]
    if there.get("name") != planned["name"]:
        return f"it is about {planned['name']}"
    if there.get("hash") != planned["hash"]:
        return "the scenario has other values"
    if there.get("engine") != planned["engine"]:
        return f"its engine is {planned['engine']}"
    if there.get("build") != planned["build"]:
        return "they are of another build of celltcp"
    if missing:
        return f"it is without {', '.join(missing)}"
    if there.get("seed", 0) < planned["seed"] or last[0] > last[1]:
        runs, seed = planned["runs"], planned["seed"]
        return f"it has {counted(runs, 'run')} from seed {seed}"
    return "it has other runs"


def keys_of_parts(folder: Path) -> set[str]:
    """Returns the keys of the runs that an interrupted command has left in a folder."""
    keys: set[str] = set()
    for index in (folder / PARTS).glob("*/index.json"):
        try:
            keys |= set(json.loads(index.read_text("utf-8")))
        except (OSError, ValueError):
            continue
    return keys


def remove_pictures(folder: Path) -> None:
    """Removes the pictures of earlier results, which new ones would contradict."""
    for name in _names_of_pictures(folder):
        (folder / name).unlink(missing_ok=True)


def _names_of_pictures(folder: Path) -> list[str]:
    return [
        file.name
        for stem in _PICTURES
        for ending in _ENDINGS
        for file in sorted(folder.glob(f"{stem}.{ending}"))
    ]
