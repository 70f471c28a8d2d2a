"""Sources: whole texts that mutants are made from."""

from __future__ import annotations

from functools import cache

from celltcp._core import builtin_policies, policy_text
from celltcp.scenarios.scenarios import load_scenario

#: Scenarios that between them have every section and most kinds of fields.
_SCENARIOS = (
    "steady-20-68",
    "drive",
    "fall",
    "outage",
    "fairness",
    "vehicular/scenario-2",
    "mobility/forward-60-4g",
    "static/mid-cell-loaded",
    "highway/drive",
    "nr/mmwave-drive",
    "startup/operator-1",
)

_OTHERS = (
    'path.queue = "codel"',
    'path.queue = { kind = "pie", target = "20ms" }',
    'path.loss = { kind = "gilbert-elliott", to_bad = 0.001, to_good = 0.3 }',
    'path.jitter = { distribution = "normal", mean = "3ms", sd = "1ms" }',
    'flows.0.workload = { kind = "on-off", on = "1s", off = { kind = "exponential", mean = "1s" } }',
    'flows.0.workload = { kind = "request-response", response = "30kB", gap = "100ms" }',
    'flows.0.workload = { kind = "page", object = "5kB", depth = 2, multiplexed = true }',
    'flows.0.workload = { kind = "frames", size = "4kB", interval = "20ms", deadline = "100ms" }',
    'flows.0.workload = { kind = "sequence", size = { kind = "pareto", shape = 1.2, scale = "4kB" } }',
    'flows.0.switch = [{ at = "1s", to = "bbr", mode = "context" }]',
)


@cache
def scenario_texts() -> list[tuple[str, str]]:
    """Names of scenarios, and their texts with every field."""
    texts = [(name, load_scenario(name).to_toml()) for name in _SCENARIOS]
    for change in _OTHERS:
        field, _, value = change.partition(" = ")
        changed = load_scenario("steady-20-68", changes={field: value})
        texts.append(("steady-20-68", changed.to_toml()))
    return texts


@cache
def policy_texts() -> list[str]:
    """Texts of the built-in policies."""
    return [policy_text(name) for name in builtin_policies()]


@cache
def trace_texts() -> list[str]:
    """Texts of traces: a mahimahi trace, and rates over time with and without a heading."""
    mahimahi = "".join(f"{n * 3}\n" for n in range(1, 400))
    rates = "".join(f"{n / 10:.1f},{5 + n % 7}\n" for n in range(100))
    return [mahimahi, rates, "time_s,rate_mbps\n" + rates]
