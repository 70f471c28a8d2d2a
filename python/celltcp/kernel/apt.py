"""Fetching of a Debian package with the machine's apt, without root and without changing the system.

apt runs with a private state, a private cache, and sources derived from the machine's. It verifies
signatures and checksums by the machine's keys.
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

#: Settings of the private apt. They clear the machine's hooks, which change the machine's state.
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
#: Name of a package of kernel source.
_PACKAGE = re.compile(r"linux-source-\d+(?:\.\d+)+")
#: Line of `apt-get --print-uris`: `'uri' file size hash`.
_URI = re.compile(r"'(?P<uri>[^']+)' (?P<file>\S+) (?P<size>\d+) (?:SHA256:(?P<sha256>[0-9a-f]{64}))?")
_STATUS = re.compile(r"dlstatus:\d+:(?P<percent>[\d.]+):")


@dataclass(frozen=True)
class Package:
    """A package that can be fetched: its file, size in bytes and SHA-256."""

    file: str
    size: int
    sha256: str


def check_name(package: str) -> None:
    """Checks that a package is one of kernel source, by its name.

    Raises:
        CelltcpError: if the name has another form.
    """
    if not _PACKAGE.fullmatch(package):
        raise CelltcpError(f"--debian {package!r}: not a kernel's source such as 'linux-source-7.3'")


@dataclass
class _SearchLog:
    """Record of a search: suites that were read, packages of kernel source in them, errors of apt."""

    suites: list[Candidate] = field(default_factory=list)
    packages: set[str] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    def not_found_error(self, requested: str) -> CelltcpError:
        """Returns the error that no suite has the package or series."""
        if not self.suites:
            return CelltcpError(
                f"{requested}: the machine's apt has no archive with a component main; pass --source "
                "FILE with a tarball of the kernel from kernel.org"
            )
        suites = ", ".join(suite.name for suite in self.suites)
        packages = ", ".join(sorted(self.packages, key=_version)) or "no kernel source at all"
        apt_error = f"; apt says: {self.errors[0]}" if self.errors and not self.packages else ""
        return CelltcpError(f"{requested}: not in {suites}; these have {packages}{apt_error}")


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
        # As root, apt's helpers run as another user, who cannot read a private folder.
        sandbox = 'APT::Sandbox::User "root";\n' if os.geteuid() == 0 else ""
        self._configuration.write_text(_CONFIGURATION.format(folder=folder, sandbox=sandbox), "utf-8")

    def find(self, package: str, report: Callable[[str], None]) -> Package:
        """Searches for a package in the suites of `sources.candidates`; reports each suite.

        Raises:
            CelltcpError: if no suite has the package.
        """
        log = _SearchLog()
        for _ in self._search(log, report):
            if result := self._look_up(package):
                return result
        raise log.not_found_error(f"--debian {package}")

    def find_newest(self, series: int, report: Callable[[str], None]) -> tuple[str, Package]:
        """Searches for the newest kernel source of a series, such as 7, in all suites of `candidates`.

        Returns:
            The name of the package, such as linux-source-7.3, and its file.

        Raises:
            CelltcpError: if no suite has such a package.
        """
        log = _SearchLog()
        suite_of: dict[str, Candidate] = {}
        for names in self._search(log, report):
            for name in names:
                if _version(name)[0] == series:
                    suite_of.setdefault(name, log.suites[-1])
        newest = max(suite_of, key=_version, default=None)
        if newest is None:
            raise log.not_found_error(f"a source of Linux {series}")
        suite = suite_of[newest]
        # apt downloads from the lists that it read last.
        report(suite.name)
        self._update(suite)
        if result := self._look_up(newest):
            return newest, result
        raise CelltcpError(f"--debian {newest}: {suite.name} lists it, but apt has no file of it")

    def fetch(self, name: str, package: Package, progress: Callable[[float], None]) -> Path:
        """Downloads a package that was found, or the remainder after an interrupted download.

        Raises:
            CelltcpError: if apt fails, with its output.
        """
        folder = self._folder / "packages"
        file = folder / package.file
        # apt does not verify a file that has the correct size already.
        if file.is_file() and file.stat().st_size >= package.size:
            if sha256(file) == package.sha256:
                return file
            file.unlink()

        def on_line(line: str) -> None:
            if match := _STATUS.match(line):
                progress(float(match["percent"]) / 100)

        self._apt_get(f"--debian {name}", ["download", name], folder, on_line)
        if not file.is_file() or sha256(file) != package.sha256:
            raise CelltcpError(
                f"--debian {name}: apt left no sound {file}; the whole log is {self._log}"
            )
        return file

    def _search(self, log: _SearchLog, report: Callable[[str], None]) -> Iterator[set[str]]:
        """Has apt read suite after suite; yields the packages of kernel source of each."""
        for candidate in candidates(read_sources(*_source_paths(self._environment))):
            report(candidate.name)
            log.suites.append(candidate)
            try:
                self._update(candidate)
            except CelltcpError as error:
                log.errors += [line.strip() for line in str(error).splitlines() if "E: " in line]
            listed = self._query(["apt-cache", "pkgnames", "linux-source-"])
            names = set(filter(_PACKAGE.fullmatch, listed))
            log.packages |= names
            yield names

    def _update(self, candidate: Candidate) -> None:
        """Has apt read the lists of packages of a candidate."""
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
        """Returns the file of a package in the lists that apt read last."""
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
    """Returns the version in the name of a package of kernel source."""
    return tuple(map(int, package.removeprefix("linux-source-").split(".")))


def sha256(file: Path) -> str:
    """Returns the SHA-256 of a file, hexadecimal."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _source_paths(environment: Mapping[str, str]) -> tuple[Path, Path]:
    """Returns the file `sources.list` and the folder `sources.list.d` of the machine's apt."""
    done = subprocess.run(
        ["apt-config", "shell", "FILE", "Dir::Etc::sourcelist/f", "PARTS", "Dir::Etc::sourceparts/d"],
        env=dict(environment),
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    paths = dict(word.partition("=")[::2] for word in shlex.split(done.stdout))
    if done.returncode or not {"FILE", "PARTS"} <= paths.keys():
        raise CelltcpError(f"apt-config: does not say where apt has its sources: {done.stderr.strip()}")
    return Path(paths["FILE"]), Path(paths["PARTS"])
