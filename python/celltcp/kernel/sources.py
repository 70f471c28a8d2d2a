"""Package sources of the machine's apt (sources.list(5)), and suites of newer and older releases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from celltcp._core import CelltcpError

#: Debian releases, oldest first; the names are those of their suites.
RELEASES = ("bullseye", "bookworm", "trixie", "forky", "duke", "sid")
#: Suite names that stand for changing releases.
ALIASES = ("oldoldstable", "oldstable", "stable", "testing", "unstable")

#: Options about the verification of an archive: one-line style to deb822 style. `trusted` is not among
#: them, because a file that celltcp fetches is always verified.
_OPTIONS = {
    "signed-by": "Signed-By",
    "check-valid-until": "Check-Valid-Until",
    "check-date": "Check-Date",
}
_ONE_LINE = re.compile(
    r"^deb\s+(?:\[(?P<options>[^\]]*)\]\s+)?(?P<uri>\S+)\s+(?P<suite>\S+)\s+(?P<components>.+)$"
)


@dataclass(frozen=True)
class Source:
    """One suite of one archive; `options` are names and values of deb822 fields."""

    uri: str
    suite: str
    components: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()

    def stanza(self) -> str:
        """Returns a deb822 stanza that fetches only the list of packages of `main`."""
        fields = [
            ("Types", "deb"),
            ("URIs", self.uri),
            ("Suites", self.suite),
            ("Components", "main"),
            ("Targets", "Packages"),
            *self.options,
        ]
        return "".join(f"{name}: {value}\n" for name, value in fields)


@dataclass(frozen=True)
class Candidate:
    """Sources that are searched together; `name` is for messages."""

    name: str
    sources: tuple[Source, ...]


def read_sources(sourcelist: Path, sourceparts: Path) -> list[Source]:
    """Returns the archives of binary packages with `main` in the file and the folder of apt's sources.

    Raises:
        CelltcpError: if a file cannot be read.
    """
    files = [sourcelist] if sourcelist.is_file() else []
    if sourceparts.is_dir():
        files += sorted(file for file in sourceparts.iterdir() if file.suffix in (".list", ".sources"))
    result: list[Source] = []
    for file in files:
        try:
            text = file.read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CelltcpError(f"{file}: {error}") from None
        result += parse_deb822(text) if file.suffix == ".sources" else parse_one_line(text)
    return [
        source
        for source in dict.fromkeys(result)
        if "main" in source.components and not source.uri.startswith("cdrom:")
    ]


def parse_one_line(text: str) -> list[Source]:
    """Parses the one-line style of sources.list: `deb [ option=value ] uri suite component...`."""
    result = []
    for line in text.splitlines():
        match = _ONE_LINE.match(line.partition("#")[0].strip())
        if not match:
            continue
        options = []
        for option in (match["options"] or "").split():
            name, _, value = option.partition("=")
            if name.lower() in _OPTIONS:
                options.append((_OPTIONS[name.lower()], value.replace(",", " ")))
        components = tuple(match["components"].split())
        result.append(Source(match["uri"], match["suite"], components, tuple(options)))
    return result


def parse_deb822(text: str) -> list[Source]:
    """Parses a .sources file: stanzas of fields, each with one or more URIs and suites."""
    result = []
    for fields in _stanzas(text):
        if fields.get("enabled", "yes").lower() in ("no", "false", "without", "off", "disable"):
            continue
        if "deb" not in fields.get("types", "").split():
            continue
        options = tuple((name, fields[key]) for key, name in _OPTIONS.items() if key in fields)
        components = tuple(fields.get("components", "").split())
        result += [
            Source(uri, suite, components, options)
            for uri in fields.get("uris", "").split()
            for suite in fields.get("suites", "").split()
        ]
    return result


def _stanzas(text: str) -> Iterator[dict[str, str]]:
    """Yields the fields of each stanza by lower-case name; values may span lines."""
    fields: dict[str, str] = {}
    name = ""
    for line in [*text.splitlines(), ""]:
        if line.startswith("#"):
            continue
        if not line.strip():
            if fields:
                yield fields
            fields, name = {}, ""
        elif line[0] in " \t":
            if name:
                fields[name] += f"\n{line}"
        else:
            name, _, value = line.partition(":")
            name = name.strip().lower()
            fields[name] = value.strip()


def candidates(own: Sequence[Source]) -> list[Candidate]:
    """Returns the sources in which to search for a package, in this order.

    First the machine's own suites, then the backports to its release. Newer releases of Debian follow,
    then older ones, each with its backports. All are on the archives of the machine, with its keys.
    """
    if not own:
        return []
    archives = [source for source in own if source.suite in RELEASES + ALIASES]
    releases = [RELEASES.index(source.suite) for source in archives if source.suite in RELEASES]
    newest = max(releases, default=-1)
    suites = [f"{RELEASES[newest]}-backports"] if releases else []
    for release in (*RELEASES[newest + 1 :], *reversed(RELEASES[: max(newest, 0)])):
        suites += [release] if release == "sid" else [release, f"{release}-backports"]
    result = [Candidate("the machine's own suites", tuple(own))]
    for suite in suites:
        sources = dict.fromkeys(replace(source, suite=suite) for source in archives)
        if new := tuple(source for source in sources if source not in own):
            result.append(Candidate(suite, new))
    return result
