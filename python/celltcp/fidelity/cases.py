"""Cases of a fidelity report: the built-in set with its groups, and scenarios of the user."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError, Scenario
from celltcp.fidelity.data import read_table
from celltcp.scenarios.scenarios import TRACE_ENDINGS, load_scenario, scenario_names

#: Group of other scenarios with a varying link.
OTHER = "other"

#: Group of random scenarios.
RANDOM = "random"


@dataclass(frozen=True)
class Case:
    """One scenario on which both engines run."""

    name: str
    group: str
    scenario: Scenario


@dataclass(frozen=True)
class _Recipe:
    """Recipe of a case of the set: a scenario of the library, and overrides."""

    group: str
    scenario: str
    changes: tuple[str, ...]


def group_titles() -> dict[str, str]:
    """Returns the names of the groups with their headings, in the order of the report."""
    titles = {name: str(group["title"]) for name, group in read_table("set").items()}
    return {**titles, OTHER: "Other scenarios", RANDOM: "Scenarios drawn at random"}


def case_names(group: str | None = None) -> list[str]:
    """Returns the names of the cases of the set, or of one group of it."""
    return [name for name, recipe in _recipes().items() if group in (None, recipe.group)]


def group_of_set(name: str) -> str | None:
    """Returns the group of a case of the set; None for other names."""
    recipe = _recipes().get(name)
    return recipe.group if recipe else None


def choose_cases(names: Sequence[str] = (), duration: str | None = None) -> list[Case]:
    """Returns the cases of these names, each once; without names the whole set.

    Args:
        names: cases of the set, groups of it, names of the scenario library, or files.
        duration: length of a run, such as `"60s"`, in place of each case's own.

    Raises:
        CelltcpError: if a name is unknown, two cases have the same name, or a scenario is invalid.
    """
    recipes = _recipes()
    groups = set(read_table("set"))
    selected: list[str] = []
    for name in names or list(recipes):
        selected += case_names(name) if name in groups else [name]
    cases: dict[str, Case] = {}
    for name in dict.fromkeys(selected):
        case = (
            _built_in_case(name, recipes[name], duration)
            if name in recipes
            else _user_case(name, duration)
        )
        if case.name in cases:
            raise CelltcpError(f"scenario {name!r}: another case is called {case.name!r}, too")
        cases[case.name] = case
    order = list(group_titles())
    return sorted(cases.values(), key=lambda case: order.index(case.group))


def is_steady(scenario: Scenario) -> bool:
    """Returns whether links never change: constant rates, no loss, jitter or cross-traffic."""
    document = json.loads(scenario.to_json())
    path = document["path"]
    hops = path["wired"]
    return (
        "rate" in path["down"]
        and "rate" in path["up"]
        and all("rate" in hop["rate"] for hop in hops)
        and not document["links"]
        and not path["uplink_loss"]
        and not any(link["loss"] or link["jitter"] or link["cross_traffic"] for link in (path, *hops))
    )


def group_of(scenario: Scenario) -> str:
    """Returns the group of a scenario that is not in the set."""
    return "steady" if is_steady(scenario) else OTHER


def _recipes() -> dict[str, _Recipe]:
    """Returns the recipes of the cases of the set by name."""
    recipes: dict[str, _Recipe] = {}
    for group, entry in read_table("set").items():
        for scenario in entry["scenarios"]:
            for variant, changes in entry["variants"].items():
                name = entry["name"].format(scenario=scenario, variant=variant)
                recipes[name] = _Recipe(group, scenario, (f"name={name}", *entry["set"], *changes))
    return recipes


def _built_in_case(name: str, recipe: _Recipe, duration: str | None) -> Case:
    scenario = load_scenario(recipe.scenario, changes=recipe.changes, duration=duration)
    return Case(name, recipe.group, scenario)


def _user_case(name: str, duration: str | None) -> Case:
    if name not in scenario_names() and not name.endswith((".toml", *TRACE_ENDINGS)):
        raise CelltcpError(_unknown_text(name))
    scenario = load_scenario(name, duration=duration)
    return Case(Path(name).stem, group_of(scenario), scenario)


def _unknown_text(name: str) -> str:
    known = [*read_table("set"), *case_names(), *scenario_names()]
    matches = difflib.get_close_matches(name, known, 1)
    hint = f"; did you mean {matches[0]!r}?" if matches else ""
    return (
        f"scenario {name!r}: not in the set{hint}; allowed: a group ({', '.join(read_table('set'))}), "
        f"a case of the set ({', '.join(case_names())}), a name that celltcp scenarios lists, or a "
        f"file that ends in .toml or in {', '.join(TRACE_ENDINGS)}"
    )
