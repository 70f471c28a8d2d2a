"""Candidates of an evaluation: fixed CCAs, and policies with their requirements."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from celltcp._core import CelltcpError, builtin_policies, describe_policy, policy_text
from celltcp.scenarios.cca_mix import AUTO, parse_mix
from celltcp.scenarios.ccas import select_ccas
from celltcp.scenarios.requirements import normalize_requirement

#: Default of the operating system.
DEFAULT = "cubic"

#: Policies that others are compared with.
REFERENCE_POLICIES = ("thesis-establishment", "thesis-inflight", "bpftune")

#: Field of the section `selection` of a scenario that has the memory of earlier connections.
HISTORY = "history"


@dataclass(frozen=True)
class PolicyUse:
    """A policy with a requirement."""

    policy: str
    requirement: str
    #: Whether the policy gets SINR and speed from the radio.
    gets_hints: bool
    #: Congestion controls that a policy with a memory learns about; empty without a memory.
    learned_ccas: tuple[str, ...] = ()

    @property
    def cca(self) -> str:
        """The selector as the text of a congestion control."""
        parameters = [f"policy={self.policy}", f"requirement={self.requirement}"]
        if self.gets_hints:
            parameters.append("hints=on")
        if self.learned_ccas:
            parameters.append(f"memory={HISTORY}")
        return f"auto:{','.join(parameters)}"


def fixed_ccas(ccas: str | Sequence[str], available: Sequence[str]) -> list[str]:
    """Returns the congestion controls of a list, which are single and fixed during a run.

    Args:
        ccas: single names with their parameters, as for `celltcp.scenarios.ccas.select_ccas`.
        available: the CCAs that `"all"` stands for.

    Raises:
        CelltcpError: if a congestion control is unknown, `auto`, or a mix.
    """
    names = select_ccas(ccas, available)
    for name in names:
        if parse_mix(name).single_cca in (None, AUTO):
            raise CelltcpError(f"cca: {name!r} is no fixed CCA; allowed: single names, all")
    return names


def policy_uses(
    policies: Sequence[str], requirements: Sequence[str], hints: bool, *, has_memory: bool = True
) -> list[PolicyUse]:
    """Returns every policy with every requirement, each pair once.

    Args:
        policies: built-in names, or files.
        requirements: as for `celltcp.scenarios.requirements.normalize_requirement`.
        hints: whether all policies get hints from the radio; table policies always do.
        has_memory: whether policies that can use a memory get one.

    Raises:
        CelltcpError: if a policy or requirement is unknown or invalid.
    """
    normalized = dict.fromkeys(map(normalize_requirement, requirements))
    result = []
    for policy in dict.fromkeys(policies):
        method = _method(policy)
        cost = method.get("cost") if has_memory else None
        learned_ccas = tuple(cost["candidates"]) if cost else ()
        # Table policies need movement and speed, which only the radio knows.
        gets_hints = hints or "table" in method
        result += [
            PolicyUse(policy, requirement, gets_hints, learned_ccas) for requirement in normalized
        ]
    return result


def _method(policy: str) -> dict[str, Any]:
    """Returns the table `method` of a policy file: its key is the name of the method."""
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
        # describe_policy accepts TOML 1.1, tomllib only 1.0.
        raise CelltcpError(f"{policy}: {error}; allowed: TOML 1.0") from None
    return method
