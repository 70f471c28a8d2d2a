"""Trial: tries mutants in a process of its own, which may die or hang without harm to the caller."""

from __future__ import annotations

import multiprocessing
import resource
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from celltcp import CelltcpError
from celltcp.campaign.engines import engine
from celltcp.scenarios.scenarios import load_scenario
from mutations import Mutant, mutant

#: Longest time for a mutant, s.
PATIENCE_S = 20.0
#: Memory of the process, bytes.
_MEMORY = 12 << 30
#: Length of a run: long enough for a handshake, data and a slot. Other fields may ask for a longer one.
_DURATION = "400ms"


@dataclass(frozen=True)
class Outcome:
    """Outcome of a mutant: it ran, it was refused, or it failed as told."""

    number: int
    mutant: Mutant
    ran: bool
    failure: str | None


def outcomes(seed: int, first: int, count: int) -> Iterator[Outcome]:
    """Tries mutants of a seed one after another."""
    number = first
    while number < first + count:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(
            target=_try_all, args=(theirs, seed, number, first + count), daemon=True
        )
        process.start()
        theirs.close()
        while number < first + count:
            outcome = _next(ours, seed, number)
            yield outcome
            number += 1
            if outcome.failure in (_HUNG, _DIED):
                break
        process.kill()
        process.join()


_HUNG = f"no answer in {PATIENCE_S:.0f} s"
_DIED = "the process died"


def _next(answers: Connection, seed: int, number: int) -> Outcome:
    what = mutant(seed, number)
    # The first answer waits for the start of the process.
    if not answers.poll(PATIENCE_S + 10.0):
        return Outcome(number, what, ran=False, failure=_HUNG)
    try:
        ran, failure = answers.recv()
    except EOFError:
        return Outcome(number, what, ran=False, failure=_DIED)
    return Outcome(number, what, ran, failure)


def _try_all(answers: Connection, seed: int, first: int, last: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as folder:
        for number in range(first, last):
            answers.send(_try(mutant(seed, number), Path(folder)))


def _try(what: Mutant, folder: Path) -> tuple[bool, str | None]:
    """Loads and runs a mutant; returns whether it ran, and how it failed."""
    try:
        _run(what, folder)
    except CelltcpError as refused:
        text = str(refused).strip()
        return False, None if text else "an error without a word"
    except BaseException:
        return False, traceback.format_exc()
    return True, None


def _run(what: Mutant, folder: Path) -> None:
    scenario, changes = what.scenario, [f"duration={_DURATION}"]
    cca = "cubic"
    if what.kind == "scenario":
        file = folder / "mutant.toml"
        file.write_text(what.text, "utf-8")
        scenario = str(file)
    elif what.kind == "override":
        changes.append(what.text)
    elif what.kind == "policy":
        file = folder / "policy.toml"
        file.write_text(what.text, "utf-8")
        cca = f"auto:policy={file},requirement=goodput"
    else:
        file = folder / "mutant.csv"
        file.write_text(what.text, "utf-8")
        scenario = str(file)
    loaded = load_scenario(scenario, changes=changes).with_cca(cca)
    run = engine().start(loaded, 1, check=True)
    while not run.advance(loaded.duration_s):
        pass
    run.finish()
