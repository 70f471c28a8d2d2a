"""Reports as Markdown: what is in them, their pictures, and that nothing in them is markup."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from PIL import Image

from celltcp.cli.write_report import write_reports
from celltcp.present.markdown import wrapped
from celltcp.present.markdown_page import PictureNames, escaped, markdown_page
from celltcp.present.section import Column, Figure, Finding, Part, Section, Table
from reports import drawn
from store import COMPARED


@pytest.mark.rendered
def test_a_page_has_answer_tables_pictures_versions_and_command(
    celltcp, stored, tmp_path: Path
) -> None:
    stored("r", *COMPARED)
    done = celltcp("report", "r", "--page", "page.md")
    assert done.returncode == 0, done.stderr
    assert not (tmp_path / "report.html").exists()
    page = (tmp_path / "page.md").read_text()
    assert page.startswith("# drive\n")
    assert "    celltcp report r --page page.md\n" in page
    assert re.search(r"^- \*\*Best for goodput\*\*: ", page, re.MULTILINE)
    assert re.search(r"^\| CCA \| goodput Mbit/s \|", page, re.MULTILINE)
    assert re.search(r"^\| build \| [0-9a-f]{16} \|$", page, re.MULTILINE)
    pictures = re.findall(r"\]\((images/page/[a-z0-9-]+\.png)\)", page)
    assert len(pictures) == len(set(pictures)) == 5
    for picture in pictures:
        with Image.open(tmp_path / picture) as image:
            assert min(image.size) > 200


def test_the_same_results_give_the_same_page(stored, tmp_path: Path) -> None:
    folder = stored("r", *COMPARED)
    texts = set()
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (file,) = write_reports([folder], None, page=tmp_path / name / "page.md")
        texts.add(file.read_text())
    assert len(texts) == 1


def test_a_page_and_its_pictures_replace_no_other_file(celltcp, stored, tmp_path: Path) -> None:
    stored("r", *COMPARED)
    (tmp_path / "own.md").write_text("mine")
    assert celltcp("report", "r", "--page", "own.md").returncode == 2
    assert (tmp_path / "own.md").read_text() == "mine"
    picture = tmp_path / "images" / "page" / "start-up.png"
    picture.parent.mkdir(parents=True)
    picture.write_text("mine")
    done = celltcp("report", "r", "--page", "page.md")
    assert done.returncode == 2
    assert "start-up.png: exists, and is no PNG of matplotlib" in done.stderr
    assert picture.read_text() == "mine"
    assert not (tmp_path / "page.md").exists()


def test_texts_of_results_are_no_markup() -> None:
    evil = "a*b* <b>c</b> `d` [e](f) _g_ h_i \\"
    table = Table((Column(evil),), ((f"{evil}|x",),))
    part = Part(evil, evil, (Finding(evil, evil),), (Section(evil, table, text=(evil,)),), (evil,))
    page = markdown_page([part, part], evil, "celltcp report r", PictureNames("images/p"))
    plain = r"a\*b\* &lt;b>c&lt;/b> \`d\` \[e\](f) \_g\_ h_i \\"
    assert escaped(evil) == plain
    assert page.count(plain) == 1 + 2 * 9
    assert evil not in page
    assert f"| {plain}\\|x |" in page


def test_no_line_of_a_paragraph_begins_an_item() -> None:
    for mark in ("-", "+", "#", "7."):
        text = f"{'word ' * 30}{mark} {'word ' * 30}"
        for start in range(0, 100, 5):
            assert not re.search(rf"\n{re.escape(mark)} ", wrapped(text[start:]))


def test_a_page_of_many_scenarios_has_their_tables_but_no_pictures_nor_files() -> None:
    figure = Figure(drawn, "picture")
    sections = (
        Section("Means", Table((Column("CCA"),), (("cubic",),))),
        Section("Over time", figure=figure),
        Section("What to try next", code="celltcp compare a\n"),
        Section("Scenario as a file: a.toml", code="rtt = 1\n" * 200, file="a.toml"),
        Section("Versions and seeds", Table((Column("what"),), (("build",),))),
    )
    part = Part("log", "", (), sections)
    pages = {}
    for count in (6, 13):
        pictures = PictureNames("images/p")
        page = markdown_page([part] * count, "set", "celltcp report s", pictures)
        assert page.count("\n| cubic |") == page.count("celltcp compare a\n") == count
        pages[count] = [page.count("rtt = 1\n"), len(pictures.figures), page.count("| build |")]
    assert pages == {6: [6 * 200, 6, 6], 13: [200, 1, 1]}


def test_pictures_of_equal_titles_have_names_of_their_own() -> None:
    sections = tuple(Section("Over time", figure=Figure(drawn, "goodput")) for _ in range(2))
    pictures = PictureNames("images/p")
    page = markdown_page([Part("t", "Q?", (), sections)], "t", "celltcp report r", pictures)
    assert list(pictures.figures) == ["over-time.png", "over-time-2.png"]
    assert "](images/p/over-time-2.png)" in page
