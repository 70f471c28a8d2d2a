"""Engines: the native TCP, or that of a Linux kernel."""

from __future__ import annotations

import functools
import hashlib
import inspect
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from celltcp._core import KERNEL, NATIVE, CelltcpError, Run, Scenario, native_ccas
from celltcp.scenarios.cca_mix import parse_mix

if TYPE_CHECKING:
    from celltcp.kernel import Kernel

#: Argument of `celltcp._core.run_batch`: number, label, scenario, seed, parts of a kernel.
RunArguments = tuple[int, str, Scenario, int, tuple[str, str, str] | None]

#: Names of the engines.
ENGINES = (NATIVE, KERNEL)

#: Largest seed of a run; JSON represents it and those of further runs exactly.
MAX_SEED = 2**53 - 2**20


@dataclass(frozen=True)
class Engine:
    """An engine that is available and can run."""

    name: str
    kernel: Kernel | None = None

    @property
    def key(self) -> str:
        """Key that differs between engines whose results may differ."""
        return f"{self.name}-{self.kernel.version}" if self.kernel else self.name

    @functools.cached_property
    def build(self) -> str:
        """Digest of its programs: another build may have other results."""
        programs = [Path(inspect.getfile(Scenario))]
        if self.kernel is not None:
            programs.append(self.kernel.binary)
            programs += sorted((Path(__file__).parents[1] / "engine").rglob("*"))
        digest = hashlib.sha256()
        for program in programs:
            if program.is_file():
                digest.update(_digest(program, program.stat().st_mtime_ns).encode())
        return digest.hexdigest()[:16]

    @property
    def ccas(self) -> list[str]:
        """Names of its CCAs."""
        return list(self.kernel.ccas) if self.kernel else native_ccas()

    def require(self, ccas: Iterable[str], lineup: str = "") -> None:
        """Checks that the engine has these CCAs, which `lineup` uses or may choose."""
        available = self.ccas
        for cca in ccas:
            if cca not in available:
                owner = f"kernel {self.kernel.version}" if self.kernel else "the native engine"
                has_selector = parse_mix(lineup).has_selector
                prefix = f"{lineup} has or may choose {cca!r}, but " if has_selector else ""
                missing = "it" if prefix else repr(cca)
                allowed = ", ".join(available)
                raise CelltcpError(f"cca: {prefix}{owner} does not have {missing}; allowed: {allowed}")

    def run_arguments(self, number: int, label: str, scenario: Scenario, seed: int) -> RunArguments:
        """Returns the argument of `celltcp._core.run_batch` for a run of this engine."""
        return number, label, scenario, seed, self.parts

    @property
    def parts(self) -> tuple[str, str, str] | None:
        """Files of the kernel, the guest program and the path library; None for the native engine."""
        if self.kernel is None:
            return None
        from celltcp.kernel.programs import program

        return str(self.kernel.binary), program("celltcp-guest"), program("libkernel_network.so")

    def start(
        self,
        scenario: Scenario,
        seed: int,
        *,
        pcap: str | None = None,
        pcap_at: str | None = None,
        check: bool = False,
    ) -> Run:
        """Starts a run; a capture is taken at the server unless `pcap_at` names another node."""
        if (parts := self.parts) is None:
            return Run(scenario, seed, check=check, pcap=pcap, pcap_at=pcap_at)
        return Run.on_kernel(*parts, scenario, seed, check=check, pcap=pcap, pcap_at=pcap_at)


def engine(name: str = NATIVE, kernel: str | None = None) -> Engine:
    """Returns the engine of this name.

    Args:
        name: `"native"` or `"kernel"`.
        kernel: version of the kernel, such as `"7.3"`; the newest that is built unless given.

    Raises:
        CelltcpError: if there is no such engine, or no such kernel is built.
    """
    if name not in ENGINES:
        raise CelltcpError(f"engine: unknown {name!r}; allowed: {', '.join(ENGINES)}")
    if name == NATIVE:
        if kernel is not None:
            raise CelltcpError(
                f"kernel: {kernel!r} is given, but the engine is native; allowed: kernel"
            )
        return Engine(name)
    from celltcp.kernel import find
    from celltcp.kernel.programs import require_one_build

    require_one_build()
    return Engine(name, find(kernel))


def name_and_kernel(key: str) -> tuple[str, str]:
    """Returns the name of the engine with this key, and the version of its kernel (empty: none)."""
    name, _, kernel = key.partition("-")
    return name, kernel


def engine_options(key: str) -> list[str]:
    """Returns the options of commands that choose the engine with this key."""
    name, kernel = name_and_kernel(key)
    words = ["--engine", name] if name != NATIVE else []
    return [*words, "--kernel", kernel] if kernel else words


@functools.cache
def _digest(file: Path, _changed: int) -> str:
    """Returns the digest of a file, cached until the file changes."""
    with file.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
