"""`--cca` is of the first flow: others that keep their CCA are named, with the option for all."""

from typing import Any

import celltcp as ct
from celltcp.comparison.comparison import Comparison
from celltcp.comparison.explanation.explanation import ExplainedComparison
from celltcp.comparison.verdicts.fixed_ccas import fixed_cca_text
from celltcp.comparison.verdicts.verdict_tables import identical_text

_FILES = {"kind": "bulk", "bytes": "1MB"}
_GAME = {"kind": "request-response", "request": "60B", "response": "120B", "gap": "200ms"}


def _compared(ccas: list[str], *flows: dict[str, Any]) -> Comparison:
    path = {"rtt": "40ms", "down": {"rate": "10Mbit/s"}}
    return ct.compare({"name": "two", "duration": "10s", "path": path, "flows": flows}, ccas, 2)


def test_a_download_beside_the_first_flow_keeps_its_cca_and_the_option_changes_it() -> None:
    game, files = {"name": "game", "workload": _GAME}, {"name": "files", "workload": _FILES}
    result = _compared(["cubic", "bbr"], game, files)
    text = fixed_cca_text(result)
    assert text == (
        "the CCAs compared are those of game, beside cubic of files: --cca cubic+cubic,bbr+bbr "
        "compares the same one in all flows"
    )
    assert text in ExplainedComparison(result).notes
    assert "the CCA of game does not matter" in identical_text(result)
    # The option does what it says: the download has the CCA of the game.
    both = _compared(["cubic+cubic", "bbr+bbr"], game, files)
    times = both.results.tables["flows"].to_pandas().query("name == 'files'")
    assert set(times["cca"]) == {"cubic", "bbr"}
    assert not fixed_cca_text(both)


def test_flows_that_never_run_together_and_frames_with_most_of_the_data_keep_theirs_too() -> None:
    mail = {"name": "mail", "workload": {**_GAME, "count": 5}}
    text = fixed_cca_text(_compared(["cubic", "bbr"], mail, {"name": "files", "start": "5s"}))
    assert text.startswith("the CCAs compared are those of mail, beside cubic of files: ")
    camera = {"name": "camera", "workload": {"kind": "frames", "size": "20kB", "interval": "40ms"}}
    text = fixed_cca_text(_compared(["cubic", "bbr"], mail, {**camera, "cca": "reno"}))
    assert text.startswith("the CCAs compared are those of mail, beside reno of camera: ")


def test_the_few_data_of_a_thin_flow_and_a_lone_flow_need_no_note() -> None:
    game, files = {"name": "game", "workload": _GAME}, {"name": "files", "workload": _FILES}
    assert not fixed_cca_text(_compared(["cubic", "bbr"], files, game))
    assert not fixed_cca_text(_compared(["cubic", "bbr"], files))
    assert not fixed_cca_text(_compared(["cubic"], game, files))
