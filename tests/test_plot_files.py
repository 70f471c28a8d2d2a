"""Files of pictures: all of them from one layout."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from celltcp._core import CelltcpError
from celltcp.present.picture_files import must_be_picture
from celltcp.present.style import figure, save, save_all

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def test_a_picture_is_laid_out_once_for_all_its_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    picture = figure(3, 2)
    axes = picture.add_subplot()
    axes.plot([1, 2])
    engine = picture.get_layout_engine()
    assert engine is not None
    layouts = []
    lay_out = engine.execute

    def counted(picture: Figure) -> None:
        layouts.append(picture)
        lay_out(picture)

    monkeypatch.setattr(engine, "execute", counted)
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


@pytest.mark.parametrize(
    ("name", "own"),
    [
        ("own.pdf", b"%PDF-1.7 a letter %%EOF"),
        ("own.jpg", b"\xff\xd8\xff\xe0 a photo"),
        ("own.png", b"\x89PNG a photo"),
    ],
)
def test_a_picture_replaces_pictures_of_plots_only(name: str, own: bytes, tmp_path: Path) -> None:
    file = tmp_path / name
    file.write_bytes(own)
    with pytest.raises(CelltcpError, match=f"{name}: exists, and is no "):
        must_be_picture(file)
    file.unlink()
    picture = figure(2, 2)
    picture.add_subplot().plot([1, 2])
    save(picture, file)
    must_be_picture(file)
