"""Kernel sources as Debian packages, by the machine's own apt but without touching its state."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from celltcp._core import CelltcpError
from celltcp.kernel.apt_sources import Source, candidates, machine_sources


def fetch(package: str, folder: Path) -> Path:
    """Downloads a package into `folder`; apt checks its signature.

    Raises:
        CelltcpError: if no source has the package, or it cannot be downloaded.
    """
    own = machine_sources()
    tried = []
    for sources in candidates(own):
        state = _prepare(folder / "apt", sources)
        tried.append(" ".join(sorted({source.suite for source in sources})))
        if _apt(state, ["update"]).returncode != 0:
            continue
        there = _apt_cache(state, package)
        if not there:
            continue
        done = _apt(state, ["download", package], folder)
        found = sorted(folder.glob(f"{package}_*.deb"))
        if done.returncode != 0 or not found:
            raise CelltcpError(f"{package}: cannot be downloaded: {_last(done.stderr)}")
        return found[-1]
    raise CelltcpError(
        f"{package}: no source of packages has it (tried the suites {', '.join(tried) or 'of none'}); "
        "is there a network? Give --source with a tarball from kernel.org otherwise"
    )


def unpack(package: Path, folder: Path) -> Path:
    """Takes the tarball out of a package.

    Raises:
        CelltcpError: if the package is broken or has none.
    """
    done = subprocess.run(
        ["dpkg-deb", "-x", str(package), str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        package.unlink(missing_ok=True)
        raise CelltcpError(f"{package.name}: cannot be unpacked: {_last(done.stderr)}")
    found = sorted((folder / "usr" / "src").glob("linux-source-*.tar.*"))
    if not found:
        raise CelltcpError(f"{package.name}: has no kernel source in usr/src")
    return found[0]


def _prepare(folder: Path, sources: list[Source]) -> list[str]:
    for name in ("state/lists/partial", "cache/archives/partial", "etc"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    lines = [source.line() for source in sources]
    (folder / "etc" / "sources.list").write_text("\n".join(lines) + "\n", "utf-8")
    settings = {
        "Dir::State": folder / "state",
        "Dir::State::status": "/dev/null",
        "Dir::Cache": folder / "cache",
        "Dir::Etc::sourcelist": folder / "etc" / "sources.list",
        "Dir::Etc::sourceparts": "-",
        # Everything happens as the present user, root or not.
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
    }
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def _apt(
    state: list[str], words: list[str], folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    command = ["apt-get", "-q", "-o", "APT::Update::Error-Mode=any", *state, *words]
    environment = {**os.environ, "LC_ALL": "C"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def _apt_cache(state: list[str], package: str) -> bool:
    shown = subprocess.run(
        ["apt-cache", *state, "show", package], capture_output=True, text=True, check=False
    )
    return shown.returncode == 0 and bool(shown.stdout.strip())


def _last(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no reason given"
