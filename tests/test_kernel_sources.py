"""Search for packages of kernel sources: sources.list(5)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from celltcp import CelltcpError
from celltcp.kernel.apt import Apt
from celltcp.kernel.make import environment
from celltcp.kernel.sources import (
    RELEASES,
    Source,
    candidates,
    parse_deb822,
    parse_one_line,
    read_sources,
)

ONE_LINE = """\
# comment
deb [arch=amd64 signed-by=/keys/a.gpg,/keys/b.gpg trusted=yes] http://mirror/debian bookworm main extra
deb http://mirror/debian bookworm-updates main # the rest
deb-src http://mirror/debian bookworm main
deb cdrom:[Debian]/ bookworm main
deb http://flat/repository ./
"""
DEB822 = """\
Types: deb deb-src
# the mirror
URIs: http://mirror/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mQINBF
 -----END PGP PUBLIC KEY BLOCK-----

Enabled: no
Types: deb
URIs: http://elsewhere
Suites: bookworm
Components: main
"""


def test_the_one_line_style_is_read() -> None:
    found = parse_one_line(ONE_LINE)
    assert found[0] == Source(
        "http://mirror/debian",
        "bookworm",
        ("main", "extra"),
        (("Signed-By", "/keys/a.gpg /keys/b.gpg"),),
    )
    assert [source.suite for source in found[:2]] == ["bookworm", "bookworm-updates"]
    assert "trusted" not in found[0].stanza().lower()


def test_the_deb822_style_is_read_with_a_key_within() -> None:
    first, second = parse_deb822(DEB822)
    assert (first.uri, first.suite, second.suite) == (
        "http://mirror/debian",
        "bookworm",
        "bookworm-updates",
    )
    assert parse_deb822(first.stanza()) == [Source(first.uri, "bookworm", ("main",), first.options)]
    assert "\n .\n mQINBF\n" in first.stanza()


def test_files_of_both_styles_are_found_and_what_has_no_main_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "sources.list").write_text(ONE_LINE)
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "debian.sources").write_text(DEB822.replace("mirror", "other"))
    (tmp_path / "parts" / "old.sources.disabled").write_text(DEB822)
    found = read_sources(tmp_path / "sources.list", tmp_path / "parts")
    assert [(source.uri, source.suite) for source in found] == [
        ("http://mirror/debian", "bookworm"),
        ("http://mirror/debian", "bookworm-updates"),
        ("http://other/debian", "bookworm"),
        ("http://other/debian", "bookworm-updates"),
    ]


def test_own_suites_come_first_then_backports_then_newer_releases_then_older() -> None:
    own = [
        Source("http://m", "bookworm", ("main",)),
        Source("http://m", "bookworm-backports", ("main",)),
    ]
    names = [candidate.name for candidate in candidates(own)]
    assert names[:4] == ["the machine's own suites", "trixie", "trixie-backports", "forky"]
    assert names[-2:] == ["bullseye", "bullseye-backports"]
    assert {name.removesuffix("-backports") for name in names[1:]} == set(RELEASES) - {"bookworm"}


def test_suites_are_moved_with_their_keys_and_only_in_archives_of_debian_releases() -> None:
    keys = (("Signed-By", "/k.gpg"),)
    own = [Source("http://m", "trixie", ("main",), keys), Source("http://vendor", "any", ("main",))]
    backports = next(found for found in candidates(own) if found.name == "trixie-backports")
    assert backports.sources == (Source("http://m", "trixie-backports", ("main",), keys),)
    ubuntu = [Source("http://u", "noble", ("main",))]
    assert [found.name for found in candidates(ubuntu)] == ["the machine's own suites"]
    assert candidates([]) == []


@pytest.mark.skipif(shutil.which("apt-get") is None, reason="no apt here")
def test_an_archive_without_a_signature_is_refused(tmp_path: Path, monkeypatch) -> None:
    archive = tmp_path / "archive" / "dists" / "mine"
    (archive / "main" / "binary-amd64").mkdir(parents=True)
    (archive / "main" / "binary-amd64" / "Packages").write_text(
        "Package: linux-source-9.8\nVersion: 1\nArchitecture: all\nSize: 1\n"
        f"Filename: x.deb\nSHA256: {'0' * 64}\n"
    )
    (archive / "Release").write_text("Suite: mine\nComponents: main\nArchitectures: amd64\n")
    (tmp_path / "s.list").write_text(f"deb [trusted=yes] file:{tmp_path}/archive mine main\n")
    places = (tmp_path / "s.list", tmp_path / "none")
    monkeypatch.setattr("celltcp.kernel.apt._own_configuration", lambda _: places)
    apt = Apt(tmp_path / "apt", tmp_path / "log", environment())
    with pytest.raises(CelltcpError, match=r"not in the machine's own suites.*is not signed"):
        apt.find("linux-source-9.8", lambda _: None)
