"""Candidates: fixed CCAs, and policies that select among CCAs."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError, builtin_policies, describe_policy, policy_text
from celltcp.scenarios.cca_mix import AUTO, parse_mix
from celltcp.scenarios.ccas import select_ccas
from celltcp.scenarios.requirements import REQUIREMENTS, normalize_requirement

#: Default of the operating system.
DEFAULT = "cubic"

#: Policies that others are compared with.
REFERENCE_POLICIES = ("thesis-establishment", "thesis-inflight", "bpftune")

#: Name of the section of a scenario with the results of earlier connections.
HISTORY = "history"


@dataclass(frozen=True)
class PolicyUse:
    """A policy with a requirement, the parameters of `auto`."""

    policy: str
    requirement: str
    hints: bool
    #: Congestion controls of a policy with a memory; empty without one.
    learns: tuple[str, ...] = ()

    @property
    def cca(self) -> str:
        """Text of the policy in a list of CCAs."""
        words = [f"policy={self.policy}", f"requirement={self.requirement}"]
        if self.hints:
            words.append("hints=on")
        if self.learns:
            words.append(f"memory={HISTORY}")
        return f"auto:{','.join(words)}"


def fixed_ccas(given: str | Sequence[str], available: Sequence[str]) -> list[str]:
    """Returns the fixed CCAs of a list: one congestion control each for all of a run.

    Args:
        given: single names with their parameters, as for `celltcp.scenarios.ccas.select_ccas`.
        available: the CCAs that `"all"` stands for.

    Raises:
        CelltcpError: if there is no such congestion control, or it is no fixed one.
    """
    named = select_ccas(given, available)
    other = next((each for each in named if parse_mix(each).single_cca in (None, AUTO)), None)
    if other is not None:
        raise CelltcpError(f"cca: {other!r} is no fixed CCA; allowed: single names, all")
    return named


def check_requirements(requirements: Sequence[str]) -> None:
    """Checks that these are requirements of `celltcp.scenarios.requirements.REQUIREMENTS`.

    Raises:
        CelltcpError: if one is not.
    """
    for requirement in requirements:
        if requirement not in REQUIREMENTS:
            raise CelltcpError(
                f"requirement: {requirement!r} is not evaluated; allowed: {', '.join(REQUIREMENTS)}"
            )


def uses(
    policies: Sequence[str], requirements: Sequence[str], hints: bool, *, remember: bool = True
) -> list[PolicyUse]:
    """Returns every policy with every requirement, each pair once.

    Args:
        policies: built-in names, or files.
        requirements: of `celltcp.scenarios.requirements.REQUIREMENTS`, or weights such as `"1/5/1"`.
        hints: whether all policies ask the radio; tables always do.
        remember: whether policies with a memory have one.

    Raises:
        CelltcpError: if there is no such policy or requirement, or it cannot be used.
    """
    normalized = dict.fromkeys(normalize_requirement(requirement) for requirement in requirements)
    result = []
    for policy in dict.fromkeys(policies):
        method = _method(policy)
        cost = method.get("cost") if remember else None
        learns = tuple(cost["candidates"]) if cost else ()
        # Table policies need movement and speed, which only the radio side knows.
        asks = hints or "table" in method
        result += [PolicyUse(policy, requirement, asks, learns) for requirement in normalized]
    return result


def _method(policy: str) -> dict[str, Any]:
    """Returns the section `method` of a policy: the name of the method, and its fields."""
    if policy in builtin_policies():
        text = policy_text(policy)
    else:
        try:
            text = Path(policy).read_text("utf-8")
        except (OSError, UnicodeDecodeError):
            allowed = ", ".join(builtin_policies())
            raise CelltcpError(
                f"policy: {policy!r} is not a policy and no file that can be read; allowed: {allowed}, "
                "or the file of one"
            ) from None
        describe_policy(policy, text)
    try:
        method: dict[str, Any] = tomllib.loads(text)["method"]
    except tomllib.TOMLDecodeError as error:
        # The reader of policies knows TOML 1.1, that of Python's library 1.0.
        raise CelltcpError(f"{policy}: {error}; allowed: TOML 1.0") from None
    return method
