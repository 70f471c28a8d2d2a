"""Where this machine gets its Debian packages from."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

#: Debian's releases from the oldest that is tried on; a newer one has newer kernels.
RELEASES = ("bookworm", "trixie", "forky", "sid")


@dataclass(frozen=True)
class Source:
    """A suite of a mirror."""

    uri: str
    suite: str
    components: str
    signed_by: str | None

    def line(self) -> str:
        """As sources.list(5) has it."""
        option = f"[signed-by={self.signed_by}] " if self.signed_by else ""
        return f"deb {option}{self.uri} {self.suite} {self.components}"


def machine_sources(folder: Path | None = None) -> list[Source]:
    """The machine's own sources of binary packages, in both formats of sources.list(5)."""
    etc = folder or _apt_folder()
    lists = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*.list"))]
    found = [source for file in lists if file.is_file() for source in one_line(_text(file))]
    stanzas = sorted((etc / "sources.list.d").glob("*.sources"))
    return found + [source for file in stanzas for source in deb822(_text(file))]


def one_line(text: str) -> Iterator[Source]:
    """Lines such as `deb [signed-by=KEY] URI SUITE COMPONENT...`."""
    for line in text.splitlines():
        words = re.sub(r"\[[^\]]*\]", " ", line.split("#")[0]).split()
        if len(words) > 3 and words[0] == "deb":
            key = re.search(r"\[[^\]]*signed-by=([^\s\]]+)", line)
            yield Source(words[1], words[2], " ".join(words[3:]), key[1] if key else None)


def deb822(text: str) -> Iterator[Source]:
    """Stanzas with the fields Types, URIs, Suites, Components and Signed-By."""
    for stanza in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        for line in stanza.splitlines():
            name, colon, value = line.partition(":")
            if colon and not line.startswith(("#", " ", "\t")):
                fields[name.strip().lower()] = value.strip()
        if fields.get("enabled", "yes").lower() == "no" or "deb" not in fields.get("types", "").split():
            continue
        # A key in the file itself cannot be named; apt's trusted keys have to do.
        key = fields.get("signed-by") or None
        for uri in fields.get("uris", "").split():
            for suite in fields.get("suites", "").split():
                yield Source(uri, suite, fields.get("components", "main"), key)


def candidates(own: list[Source]) -> list[list[Source]]:
    """What to look through for a package, in this order.

    First the machine's own sources, then backports and newer releases of Debian on the same mirror and
    with the same key.
    """
    debian = [source for source in own if source.suite in RELEASES]
    wanted = []
    for release in RELEASES:
        if any(RELEASES.index(source.suite) <= RELEASES.index(release) for source in debian):
            wanted += [release] if release == "sid" else [release, f"{release}-backports"]
    known = {source.suite for source in own}
    others = [
        [replace(source, suite=suite, components="main") for source in debian[:1]]
        for suite in wanted
        if suite not in known
    ]
    return [own, *others] if own else others


def _apt_folder() -> Path:
    asked = subprocess.run(
        ["apt-config", "shell", "ETC", "Dir::Etc/d"], capture_output=True, text=True, check=False
    )
    told = re.search(r"ETC='([^']+)'", asked.stdout)
    return Path(told[1]) if told else Path("/etc/apt")


def _text(file: Path) -> str:
    return file.read_text("utf-8", errors="replace")
