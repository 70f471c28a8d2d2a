"""PDF of reports: first page, wide tables, long scenarios and legends."""

from __future__ import annotations

import io

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure as Drawing

from celltcp.present import pdf
from celltcp.present.section import Column, Figure, Part, Section, Table
from celltcp.present.style import figure, legend_beside


def _part(*sections: Section) -> Part:
    return Part("Title", "What is asked?", (), sections)


def _pages(monkeypatch: pytest.MonkeyPatch, part: Part) -> list[Drawing]:
    """The pages of the PDF of a part."""
    pages: list[Drawing] = []

    class Kept(pdf.PdfPages):
        def savefig(self, drawn: Drawing, **how: object) -> None:
            pages.append(drawn)
            super().savefig(drawn, **how)

    monkeypatch.setattr(pdf, "PdfPages", Kept)
    assert pdf.pdf_of([part], "t", "c").startswith(b"%PDF")
    return pages


def test_tables_begin_on_a_first_page_that_has_room(monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table((Column("CCA"), Column("goodput", is_number=True)), (("cubic", "12.3 ±0.4"),))
    (page,) = _pages(monkeypatch, _part(Section("Means", table)))
    assert any("12.3 ±0.4" in text.get_text() for text in page.texts)


def test_headings_and_paragraphs_end_before_the_right_margin(monkeypatch: pytest.MonkeyPatch) -> None:
    long = (
        "Best path.queue under bbr+bbr for ping (95th percentile of the response time): fq-codel",
        "Best value of path.wired.0.rate for download (mean RTT of the minimum window) with cubic, bbr",
        "Command summary: common minimum memory of communicating commands, commonly summed up",
    )
    part = Part(long[0], long[1], (), tuple(Section(title, text=long) for title in long))
    for page in _pages(monkeypatch, part):
        renderer = FigureCanvasAgg(page).get_renderer()
        ends = [text.get_window_extent(renderer).x1 / page.dpi for text in page.texts]
        assert max(ends) <= 8.27 - 0.8


@pytest.mark.parametrize("count", [7, 8, 9, 10, 11, 12, 30])
def test_no_cell_of_a_wide_table_is_wrapped(monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    columns = (Column("CCA"), *(Column(f"n{at}", is_number=True) for at in range(count)))
    row = ("cubic", *(f"{at}.123 ±0.456" for at in range(count)))
    (page,) = _pages(monkeypatch, _part(Section("Means", Table(columns, (row,)))))
    lines = [text.get_text() for text in page.texts]
    assert all(any(cell in line for line in lines) for cell in row)
    assert all(text.get_size() >= 6.4 for text in page.texts)


def test_a_long_scenario_has_no_comments(monkeypatch: pytest.MonkeyPatch) -> None:
    code = "\n".join(f"# Field {at}.\nfield_{at} = {at}\n# unset_{at} =" for at in range(20))
    (page,) = _pages(monkeypatch, _part(Section("Scenario", code=code)))
    lines = [text.get_text() for text in page.texts]
    assert not any("unset" in line and "=" in line for line in lines)
    assert sum(line.startswith("field_") for line in lines) == 20


def test_a_legend_stays_beside_its_axes_on_a_larger_page() -> None:
    picture = figure(6, 4)
    axes = picture.add_subplot()
    axes.plot([0, 1], [0, 1])
    legend_beside(picture, ["cubic", "bbr"])
    with picture.anchored():
        (legend,) = picture.legends
        place = legend.get_window_extent()
        assert place.x0 >= axes.get_window_extent().x1
        picture.text(0.0, 1.3, "above")
        picture.savefig(io.BytesIO(), format="pdf", bbox_inches="tight", pad_inches=0.5)
        assert abs(legend.get_window_extent().y1 - place.y1) < 2
    assert Figure(lambda: picture, "words").draw() is picture
