"""Warning about a name on the command line that drops the parameters of a scenario."""

from __future__ import annotations

import pytest

import celltcp as ct

_CCA = {"name": "cubic", "hystart": "off"}


@pytest.mark.parametrize(
    ("ccas", "warns"),
    [
        (["cubic"], True),
        (["cubic", "bbr"], True),
        (["own"], False),
        (["cubic", "own"], False),
        (["cubic:hystart=off"], False),
        (["bbr"], False),
        (["cubic:beta=0.8"], False),
    ],
)
def test_a_name_that_drops_parameters_of_the_scenario_has_a_warning(
    ccas: list[str], warns: bool
) -> None:
    result = ct.compare("steady-20-68", ccas, 1, duration="300ms", set={"flows.0.cca": _CCA})
    expected = "cubic ran with its default parameters; the scenario has cubic:hystart=off: --cca "
    assert any(text.startswith(expected) for text in result.warnings) == warns
