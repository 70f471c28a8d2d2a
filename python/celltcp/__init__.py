"""celltcp: compares TCP congestion controls on mobile networks, and selects one for an application.

>>> import celltcp as ct
>>> result = ct.compare("steady-20-68", cca=["cubic", "bbr"], runs=1, duration="10s")
>>> result.recommendation["delay"]
['bbr']
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from celltcp.scenarios.lazy_attributes import register_provider

if TYPE_CHECKING:
    from celltcp._core import (
        CelltcpError,
        InternalError,
        KernelEngineError,
        Report,
        Scenario,
        Trace,
        __version__,
    )
    from celltcp.comparison.comparison import Comparison
    from celltcp.comparison.run import compare
    from celltcp.comparison.sets.scenario_set import ScenarioSet, compare_all
    from celltcp.comparison.single_run import SingleRun, run
    from celltcp.comparison.sweep.parameter_sweep import Sweep, sweep
    from celltcp.live.shell import Shell
    from celltcp.results.tables import Results
    from celltcp.scenarios.own_cca import CongestionControl, Decision, register
    from celltcp.scenarios.scenarios import load_scenario, scenario_names
    from celltcp.selection.explained_results import Explanations, explain
    from celltcp.video.comparison import VideoComparison, compare_video
    from celltcp.video.load_results import load

_NAMES_OF_MODULES = {
    "_core": "CelltcpError InternalError KernelEngineError Report Scenario Trace __version__",
    "comparison.comparison": "Comparison",
    "comparison.sweep.parameter_sweep": "Sweep sweep",
    "comparison.run": "compare",
    "comparison.sets.scenario_set": "ScenarioSet compare_all",
    "comparison.single_run": "SingleRun run",
    "live.shell": "Shell",
    "results.tables": "Results",
    "scenarios.own_cca": "CongestionControl Decision register",
    "scenarios.scenarios": "load_scenario scenario_names",
    "selection.explained_results": "Explanations explain",
    "video.comparison": "VideoComparison compare_video",
    "video.load_results": "load",
}
_MODULES = {name: module for module, names in _NAMES_OF_MODULES.items() for name in names.split()}

__all__ = [
    "CelltcpError",
    "Comparison",
    "CongestionControl",
    "Decision",
    "Explanations",
    "InternalError",
    "KernelEngineError",
    "Report",
    "Results",
    "Scenario",
    "ScenarioSet",
    "Shell",
    "SingleRun",
    "Sweep",
    "Trace",
    "VideoComparison",
    "__version__",
    "compare",
    "compare_all",
    "compare_video",
    "explain",
    "load",
    "load_scenario",
    "register",
    "run",
    "scenario_names",
    "sweep",
]


def __getattr__(name: str) -> object:
    """Imports a name at its first use, as pandas and matplotlib take their time."""
    if name in _MODULES:
        value = _imported(_MODULES[name], name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'celltcp' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)


def _imported(module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"celltcp.{module}"), name)


def _plot(module: str, name: str) -> Callable[[Any], Any]:
    """Plots as an attribute of a result; matplotlib is imported at its first use."""
    return lambda result: _imported(module, name)(result)


def _plot_method(module: str, name: str) -> Callable[[Any], Any]:
    """As `_plot`, for a method of the result."""
    return lambda result: functools.partial(_imported(module, name), result)


# Results do not import plots: their attributes are registered here.
register_provider("Comparison.plot", _plot("comparison.plots.accessors", "ComparisonPlots"))
register_provider("SingleRun.plot", _plot("comparison.plots.accessors", "RunPlots"))
register_provider("Sweep.plot", _plot_method("comparison.plots.accessors", "plot_sweep"))
register_provider("ScenarioSet.plot", _plot_method("comparison.plots.scenario_set", "plot_set"))
register_provider("VideoComparison.plot", _plot_method("video.plots.video", "plot_scores"))
register_provider(
    "VideoComparison.plot_ecdf", _plot_method("video.plots.viewers", "plot_distributions")
)
register_provider("Evaluation.plot", _plot_method("selection.plots.selection", "plot_evaluation"))
register_provider(
    "Evaluation.plot_reliability", _plot_method("selection.plots.reliability", "plot_reliability")
)
register_provider("Explanation.plot", _plot_method("selection.plots.explanation", "plot_explanation"))
