"""Notebooks: the cells of each run in their order, in an empty folder."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "docs" / "notebooks").glob("*.ipynb"))


def test_there_are_five_of_them() -> None:
    assert len(NOTEBOOKS) == 5


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda each: each.stem)
def test_a_notebook_runs_and_keeps_no_output(
    notebook: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    document = json.loads(notebook.read_text())
    assert document["nbformat"] == 4
    names: dict[str, Any] = {}
    for cell in document["cells"]:
        if cell["cell_type"] != "code":
            continue
        # Outputs would be those of another build.
        assert cell["outputs"] == []
        *statements, last = ast.parse("".join(cell["source"])).body
        assert isinstance(last, ast.Expr)
        exec(compile(ast.Module(statements, []), notebook.name, "exec"), names)
        assert eval(compile(ast.Expression(last.value), notebook.name, "eval"), names) is not None
