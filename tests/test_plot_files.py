"""Files of pictures: all of them from one layout."""

from __future__ import annotations

from pathlib import Path

import pytest

from celltcp.present.style import Picture, figure, save, save_all


def test_a_picture_is_laid_out_once_for_all_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    layouts = []
    lay_out = Picture.draw_without_rendering

    def counted(picture: Picture) -> None:
        layouts.append(picture)
        lay_out(picture)

    monkeypatch.setattr(Picture, "draw_without_rendering", counted)
    picture = figure(3, 2)
    axes = picture.add_subplot()
    axes.plot([1, 2])
    engine = picture.get_layout_engine()
    files = save_all(picture, [tmp_path / "a.png", tmp_path / "a.svg"])
    assert [file.name for file in files] == ["a.png", "a.svg"]
    assert all(file.stat().st_size > 0 for file in files)
    assert len(layouts) == 1
    # What is drawn later is laid out again.
    assert picture.get_layout_engine() is engine
    axes.set_ylabel("a label that needs room")
    save(picture, tmp_path / "b.png")
    assert len(layouts) >= 2
    assert (tmp_path / "b.png").read_bytes() != (tmp_path / "a.png").read_bytes()
