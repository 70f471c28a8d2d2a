"""Several scenarios: each goes by its own name among them; a single CCA has figures and no rivals."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Celltcp


def test_a_log_that_is_called_as_a_built_in_scenario_keeps_its_ending(
    celltcp: Celltcp, tmp_path: Path
) -> None:
    (tmp_path / "drive.csv").write_text(
        "time_s,rate_mbps\n" + "".join(f"{n},{5 + n % 3}\n" for n in range(30))
    )
    options = ["--cca", "cubic", "--runs", "1", "--duration", "2s", "--out", "both", "--quiet"]
    done = celltcp("compare", "drive", "drive.csv", *options)
    assert done.returncode == 0, done.stderr
    assert re.findall(r"(\S+): mean and 95 % interval", done.stdout) == ["drive", "drive.csv"]
    reported = celltcp("report", "both", "--quiet")
    assert reported.returncode == 0, reported.stderr
    text = (tmp_path / "report.html").read_text()
    assert "What does cubic get on drive, drive.csv?" in text
    assert "What does cubic get on drive.csv, in 1 run of 2 s each" in text
    assert "Best on each scenario" not in text
    assert "Which of cubic is best" not in text
