"""Search for packages of kernel sources: sources.list(5)."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from celltcp import CelltcpError
from celltcp.kernel.apt import Apt
from celltcp.kernel.builder import environment
from celltcp.kernel.cache import Origin
from celltcp.kernel.origin import NewestPackage
from celltcp.kernel.sources import (
    RELEASES,
    Candidate,
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
    result = parse_one_line(ONE_LINE)
    assert result[0] == Source(
        "http://mirror/debian",
        "bookworm",
        ("main", "extra"),
        (("Signed-By", "/keys/a.gpg /keys/b.gpg"),),
    )
    assert [source.suite for source in result[:2]] == ["bookworm", "bookworm-updates"]
    assert "trusted" not in result[0].stanza().lower()


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
    result = read_sources(tmp_path / "sources.list", tmp_path / "parts")
    assert [(source.uri, source.suite) for source in result] == [
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
    backports = next(result for result in candidates(own) if result.name == "trixie-backports")
    assert backports.sources == (Source("http://m", "trixie-backports", ("main",), keys),)
    ubuntu = [Source("http://u", "noble", ("main",))]
    assert [result.name for result in candidates(ubuntu)] == ["the machine's own suites"]
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
    monkeypatch.setattr("celltcp.kernel.apt._source_paths", lambda _: places)
    apt = Apt(tmp_path / "apt", tmp_path / "log", environment())
    with pytest.raises(CelltcpError, match=r"not in the machine's own suites.*is not signed"):
        apt.find("linux-source-9.8", lambda _: None)


class _Archive:
    """An archive of suites: stands for what apt answers about the suite that it has read last."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, suites: dict[str, tuple[str, ...]]) -> None:
        self.read = ""
        self.suites = suites
        result = [Candidate(name, (Source("http://m", name, ("main",)),)) for name in suites]
        monkeypatch.setattr("celltcp.kernel.apt.candidates", lambda _: result)
        monkeypatch.setattr("celltcp.kernel.apt._source_paths", lambda _: (Path(), Path("/none")))
        monkeypatch.setattr(Apt, "_update", lambda _, candidate: self._update(candidate))
        monkeypatch.setattr(Apt, "_query", lambda _, command: self._query(command))

    def _update(self, candidate: Candidate) -> None:
        self.read = candidate.name

    def _query(self, command: list[str]) -> list[str]:
        there = self.suites[self.read]
        if "pkgnames" in command:
            return list(there)
        name = command[-1]
        return [f"'http://m/{name}.deb' {name}.deb 9 SHA256:{'0' * 64}"] if name in there else []


@pytest.mark.parametrize(
    ("suites", "newest", "where"),
    [
        ({"a": ("linux-source-7.3", "linux-source-7.2"), "b": ("linux-source-7.2",)}, "7.3", "a"),
        ({"a": ("linux-source-7.9",), "b": ("linux-source-7.10",), "c": ()}, "7.10", "b"),
        ({"a": ("linux-source-6.12",), "b": ("linux-source-8.1", "linux-source-7.0")}, "7.0", "b"),
        ({"a": ("linux-source-7.3",), "b": ("linux-source-7.3", "linux-source-7.3.1-x")}, "7.3", "a"),
    ],
)
def test_the_newest_source_of_a_series_is_found_in_whichever_suite_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suites, newest: str, where: str
) -> None:
    archive = _Archive(monkeypatch, suites)
    apt = Apt(tmp_path / "apt", tmp_path / "log", environment())
    name, package = apt.find_newest(7, lambda _: None)
    assert (name, package.file) == (f"linux-source-{newest}", f"linux-source-{newest}.deb")
    assert archive.read == where, "apt downloads from the lists that it has read last"


def test_a_series_that_no_suite_has_is_refused_with_the_sources_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _Archive(monkeypatch, {"a": ("linux-source-6.12",), "b": ("linux-source-6.1",)})
    apt = Apt(tmp_path / "apt", tmp_path / "log", environment())
    there = r"Linux 7: not in a, b; these have linux-source-6\.1, linux-source-6\.12$"
    with pytest.raises(CelltcpError, match=there):
        apt.find_newest(7, lambda _: None)


def test_a_kernel_of_any_version_of_the_series_is_from_its_newest_package() -> None:
    def built_from(name: str, kind: str = "debian") -> bool:
        origin = Origin(kind=kind, name=name, file="x.deb", sha256="0" * 64)
        return NewestPackage(7).matches(origin)

    assert built_from("linux-source-7.2")
    assert built_from("linux-source-7.10")
    assert not built_from("linux-source-6.12")
    assert not built_from("linux-source-70.1")
    assert not built_from("linux-source-7.2", "tarball")
