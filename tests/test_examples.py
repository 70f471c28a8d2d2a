"""Examples: each program of the gallery runs and draws its picture."""

from pathlib import Path

import pytest
from PIL import Image

from commands import Commands
from docs_pages import kind_of, pages

_EXAMPLES = sorted((Path(__file__).parent.parent / "docs" / "examples").glob("*.py"))


#: Those whose simulations take long.
_SLOW = ("paper_table",)


@pytest.mark.rendered
@pytest.mark.parametrize(
    "program",
    [pytest.param(each, marks=[pytest.mark.slow] * (each.stem in _SLOW)) for each in _EXAMPLES],
    ids=lambda each: each.stem,
)
def test_a_program_of_the_gallery_draws_its_picture(
    program: Path, commands: Commands, tmp_path: Path
) -> None:
    done = commands.run_program(program, str(tmp_path))
    assert done.returncode == 0, done.stderr
    with Image.open(tmp_path / f"{program.stem}.png") as picture:
        assert min(picture.size) > 200
        assert len(picture.convert("L").getcolors()) > 20


def test_pages_show_all_of_them() -> None:
    text = "".join(page.read_text() for page in pages() if kind_of(page))
    assert len(_EXAMPLES) == 6
    for program in _EXAMPLES:
        assert f"images/gallery/{program.stem}.png" in text
        assert f"examples/{program.name}" in text
