"""Mutations: input that was damaged at random is refused with an error that names it, or it runs.

A mutant is a scenario, an override, a policy or a trace of rates in which values, lines or bytes were
changed. It must neither panic nor hang nor take memory without bound. At the top of the checkout,
`PYTHONPATH=tests .venv/bin/python -m mutations --seconds 3600 --seed 1` tries them for an hour and
prints each one that fails; `make test` tries a few.
"""

from __future__ import annotations

from dataclasses import dataclass
from random import Random

from mutations.damage import damaged, damaged_override
from mutations.sources import policy_texts, scenario_texts, trace_texts

#: Kinds of mutants.
KINDS = ("scenario", "override", "policy", "trace")


@dataclass(frozen=True)
class Mutant:
    """Damaged input of one kind."""

    kind: str
    text: str
    #: Name of the scenario that the mutant belongs to.
    scenario: str


def mutant(seed: int, number: int) -> Mutant:
    """Makes mutant number `number` of a seed."""
    draw = Random(f"mutant {seed} {number}")
    kind = draw.choices(KINDS, (5, 3, 2, 2))[0]
    name, text = draw.choice(scenario_texts())
    if kind == "scenario":
        return Mutant(kind, damaged(text, draw), name)
    if kind == "override":
        return Mutant(kind, damaged_override(text, draw), name)
    pool = policy_texts() if kind == "policy" else trace_texts()
    return Mutant(kind, damaged(draw.choice(pool), draw), "steady-20-68")
