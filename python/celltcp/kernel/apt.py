"""Fetching a Debian package with the machine's own apt, without root and without changing the system.

apt gets a state and a cache of its own and sources that are derived from the machine's; it verifies
signatures and checksums by the machine's keys, as always.
"""

from __future__ import annotations

import hashlib
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from celltcp._core import CelltcpError
from celltcp.kernel.process import run
from celltcp.kernel.sources import Candidate, candidates, read_sources

#: Settings of the private apt, without the machine's hooks, which change its own state.
_CONFIGURATION = """\
#clear APT::Update;
#clear DPkg;
APT::Update::Error-Mode "any";
Dir::State "{folder}/state";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "{folder}/sources";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Acquire::AllowInsecureRepositories "false";
APT::Get::AllowUnauthenticated "false";
Acquire::Languages "none";
Acquire::Retries "3";
APT::Status-Fd "1";
{sandbox}"""
_PACKAGE = re.compile(r"linux-source-(?P<version>\d+(?:\.\d+)+)")
#: `'uri' file size hash`, as `--print-uris` writes it.
_URI = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) (?:SHA256:(?P<sha256>[0-9a-f]{64}))?")
_STATUS = re.compile(r"dlstatus:\d+:(?P<percent>[\d.]+):")


@dataclass(frozen=True)
class Package:
    """A package that can be fetched: its file, size in bytes and SHA-256."""

    file: str
    size: int
    sha256: str


def check_name(package: str) -> None:
    """Checks that a name is that of a package of kernel source.

    Raises:
        CelltcpError: names the form of such names.
    """
    if not _PACKAGE.fullmatch(package):
        raise CelltcpError(f"--debian {package!r}: not a kernel's source such as 'linux-source-7.3'")


@dataclass
class _Searched:
    """Record of a search: the suites that were read, packages of kernel source there, apt's errors."""

    suites: list[Candidate] = field(default_factory=list)
    versions: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    def not_found_error(self, requested: str) -> CelltcpError:
        """Returns the error that no suite has the package or series."""
        if not self.suites:
            return CelltcpError(
                f"{requested}: the machine's apt has no archive with a component main; pass --source "
                "FILE with a tarball of the kernel from kernel.org"
            )
        suites = ", ".join(suite.name for suite in self.suites)
        versions = ", ".join(sorted(self.versions, key=_version)) or "no kernel source at all"
        trouble = f"; apt says: {self.complaints[0]}" if self.complaints and not self.versions else ""
        return CelltcpError(f"{requested}: not in {suites}; these have {versions}{trouble}")


class Apt:
    """A private apt in a folder. It downloads a package only once."""

    def __init__(
        self,
        folder: Path,
        log: Path,
        environment: Mapping[str, str],
        keep_open: tuple[int, ...] = (),
    ) -> None:
        self._folder = folder
        self._log = log
        self._environment = environment
        self._keep_open = keep_open
        self._configuration = folder / "apt.conf"
        for part in ("state/lists/partial", "cache/archives/partial", "sources", "packages"):
            (folder / part).mkdir(parents=True, exist_ok=True)
        # apt's helpers become a user of their own where it is root; that user sees no private folder.
        sandbox = 'APT::Sandbox::User "root";\n' if os.geteuid() == 0 else ""
        self._configuration.write_text(_CONFIGURATION.format(folder=folder, sandbox=sandbox), "utf-8")

    def find(self, package: str, report: Callable[[str], None]) -> Package:
        """Searches for a package in the suites of `sources.candidates`.

        Args:
            package: its name.
            report: called with the suite that is being searched.

        Raises:
            CelltcpError: no suite has it; names the suites, what they have, and apt's message.
        """
        searched = _Searched()
        for _ in self._names(searched, report):
            if result := self._look_up(package):
                return result
        raise searched.not_found_error(f"--debian {package}")

    def find_newest(self, series: int, report: Callable[[str], None]) -> tuple[str, Package]:
        """Searches for the newest kernel source of a series in all suites of `sources.candidates`.

        Args:
            series: the first number of the kernel's version, such as 7.
            report: called with the suite that is being searched.

        Returns:
            The name of the package, such as linux-source-7.3, and its file.

        Raises:
            CelltcpError: no suite has such a package; names the suites, what they have, and apt's
                message.
        """
        searched = _Searched()
        newest: tuple[str, Candidate] | None = None
        for names in self._names(searched, report):
            of_series = [name for name in names if _version(name)[:1] == (series,)]
            name = max(of_series, key=_version, default=None)
            if name and (newest is None or _version(name) > _version(newest[0])):
                newest = name, searched.suites[-1]
        if newest is None:
            raise searched.not_found_error(f"a source of Linux {series}")
        name, suite = newest
        # apt downloads from the lists that it read last.
        report(suite.name)
        self._update(suite)
        if result := self._look_up(name):
            return name, result
        raise CelltcpError(f"--debian {name}: {suite.name} lists it, but apt has no file of it")

    def fetch(self, name: str, package: Package, progress: Callable[[float], None]) -> Path:
        """Downloads a package that was found; continues an interrupted download.

        Raises:
            CelltcpError: apt failed, with what it says.
        """
        folder = self._folder / "packages"
        file = folder / package.file
        # apt trusts a file of the correct size.
        if file.is_file() and file.stat().st_size >= package.size:
            if _sha256(file) == package.sha256:
                return file
            file.unlink()

        def on_line(line: str) -> None:
            if match := _STATUS.match(line):
                progress(float(match["percent"]) / 100)

        self._apt_get(f"--debian {name}", ["download", name], folder, on_line)
        if not file.is_file() or _sha256(file) != package.sha256:
            raise CelltcpError(
                f"--debian {name}: apt left no sound {file}; the whole log is {self._log}"
            )
        return file

    def _names(self, searched: _Searched, report: Callable[[str], None]) -> Iterator[set[str]]:
        """Yields for each suite the packages of kernel source, while apt has the suite's lists."""
        for candidate in candidates(read_sources(*_own_configuration(self._environment))):
            report(candidate.name)
            searched.suites.append(candidate)
            try:
                self._update(candidate)
            except CelltcpError as error:
                searched.complaints += [
                    line.strip() for line in str(error).splitlines() if "E: " in line
                ]
            listed = self._query(["apt-cache", "pkgnames", "linux-source-"])
            names = set(filter(_PACKAGE.fullmatch, listed))
            searched.versions |= names
            yield names

    def _update(self, candidate: Candidate) -> None:
        stanzas = "\n".join(source.stanza() for source in candidate.sources)
        (self._folder / "sources" / "celltcp.sources").write_text(stanzas, "utf-8")
        self._apt_get(candidate.name, ["update"], self._folder)

    def _apt_get(
        self,
        what: str,
        arguments: list[str],
        folder: Path,
        on_line: Callable[[str], None] = lambda _: None,
    ) -> None:
        run(
            ["apt-get", "-q", "-c", str(self._configuration), *arguments],
            what=what,
            log=self._log,
            environment=self._environment,
            on_line=on_line,
            folder=folder,
            unlogged="dlstatus:",
            keep_open=self._keep_open,
        )

    def _look_up(self, package: str) -> Package | None:
        for line in self._query(["apt-get", "download", "--print-uris", package]):
            if (match := _URI.match(line)) and match["sha256"]:
                return Package(unquote(match["file"]), int(match["size"]), match["sha256"])
        return None

    def _query(self, command: list[str]) -> list[str]:
        done = subprocess.run(
            [command[0], "-c", str(self._configuration), *command[1:]],
            env=dict(self._environment),
            cwd=self._folder,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        return done.stdout.splitlines()


def _version(package: str) -> tuple[int, ...]:
    """Returns the version in the name of a package of kernel source; () if there is none."""
    match = _PACKAGE.fullmatch(package)
    return tuple(int(number) for number in match["version"].split(".")) if match else ()


def _sha256(file: Path) -> str:
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _own_configuration(environment: Mapping[str, str]) -> tuple[Path, Path]:
    """Returns the file and the folder in which the machine's apt has its sources."""
    done = subprocess.run(
        ["apt-config", "shell", "FILE", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"],
        env=dict(environment),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    places = dict(word.partition("=")[::2] for word in shlex.split(done.stdout))
    if done.returncode or not {"FILE", "PARTS"} <= places.keys():
        raise CelltcpError(f"apt-config: does not say where apt has its sources: {done.stderr.strip()}")
    return Path(places["FILE"]), Path(places["PARTS"])
