"""Saved judgements: the outcome of `celltcp fidelity --out`, loaded from its folder."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from celltcp._core import KERNEL, NATIVE, CelltcpError
from celltcp.campaign.engines import name_and_kernel
from celltcp.fidelity.cases import RANDOM, Case, group_of, group_of_set
from celltcp.fidelity.differences import Fidelity, Judgement, judge_case
from celltcp.results.tables import Results, read_results
from celltcp.scenarios.scenario_files import read_scenario

#: Subfolder for the repeated runs of undecided comparisons.
DECIDED = "decided"

#: File with the rows of a finished campaign.
ROWS = "fidelity.csv"


class SavedFidelity(NamedTuple):
    """Outcome of a finished campaign, and its cases."""

    fidelity: Fidelity
    cases: list[Case]
    #: Origin of the native engine's runs in the first case.
    about: dict[str, Any]


def load_fidelity(folder: Path) -> SavedFidelity | None:
    """Returns the judgements of a finished campaign; None if the folder has none.

    Raises:
        CelltcpError: if a table is missing or damaged.
    """
    judgements: list[Judgement] = []
    cases: list[Case] = []
    kernel = ""
    about: dict[str, Any] = {}
    for name, ccas in _cases_and_ccas(folder / ROWS).items():
        native, linux = _engine_results(folder / name)
        case = _case(name, native)
        by_cca = {judgement.cca: judgement for judgement in judge_case(case, ccas, native, linux)}
        if (folder / DECIDED / name).is_dir():
            reruns = _engine_results(folder / DECIDED / name)
            rerun_ccas = [cca for cca in ccas if cca in reruns[0].about["cca"]]
            by_cca |= {judgement.cca: judgement for judgement in judge_case(case, rerun_ccas, *reruns)}
        judgements += by_cca.values()
        cases.append(case)
        kernel = kernel or name_and_kernel(str(linux.about["engine"]))[1]
        about = about or native.about
    if not judgements:
        return None
    return SavedFidelity(
        Fidelity(judgements, about["version"], kernel, about["runs"], about["seed"]), cases, about
    )


def _engine_results(folder: Path) -> tuple[Results, Results]:
    """Returns the results of a case under the native engine and under the kernel."""
    return read_results(folder / NATIVE), read_results(folder / KERNEL)


def _case(name: str, results: Results) -> Case:
    about = results.about
    scenario = read_scenario(about["scenario"], str(about["name"]), Path())
    if name.startswith(f"{RANDOM}-"):
        return Case(name, RANDOM, scenario)
    return Case(name, group_of_set(name) or group_of(scenario), scenario)


def _cases_and_ccas(file: Path) -> dict[str, Sequence[str]]:
    """Returns the cases in the rows of a campaign, in their order, each with its CCAs."""
    result: dict[str, list[str]] = {}
    if not file.is_file():
        return {}
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                result.setdefault(row["case"], []).append(row["cca"])
    except (OSError, KeyError, UnicodeDecodeError, csv.Error) as error:
        raise CelltcpError(f"{file}: cannot be read: {error}") from None
    return dict(result)
