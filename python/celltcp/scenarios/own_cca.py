"""User-defined congestion controls: Python classes, and shared libraries built from Rust."""

from __future__ import annotations

import hashlib
import inspect
import sys
import types
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

from celltcp._core import CelltcpError, Report, register_cca, register_library
from celltcp.scenarios.ccas import register_sources


@dataclass(frozen=True)
class Decision:
    """Decision of a congestion control. None leaves a value unchanged.

    Attributes:
        cwnd: congestion window, segments, at least 1.
        pacing_rate_mbps: pacing rate, Mbit/s. Until one is given, segments are not paced.
    """

    cwnd: float | None = None
    pacing_rate_mbps: float | None = None


class CongestionControl(ABC):
    """A congestion control that receives reports, and answers with a window and a pacing rate.

    One object is created per sending connection. It gets a report every `interval`, at the start of a
    loss recovery and at a retransmission time-out; never per packet. In between, window and rate are
    constant. Lost segments are retransmitted within the window. After a time-out the window grows back
    to the decided one. `celltcp.Report` lists what a report contains.

    Arguments of `__init__` with defaults (numbers, texts, True or False) are parameters: with
    `def __init__(self, alpha: float = 1.0)`, the list `"mine,mine:alpha=2"` compares two values.

    Attributes:
        name: its name in scenarios and commands.
        title: full name, for tables.
        year: year of publication, for tables.
        interval: time between reports, such as `"10ms"`, at least 1 ms; None for one RTT.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    year: ClassVar[int] = 0
    interval: ClassVar[str | None] = None

    @abstractmethod
    def report(self, report: Report) -> Decision | None:
        """Answers a report; the first one has the cause `"start"`."""


#: Endings of shared libraries.
_LIBRARY_ENDINGS = (".so", ".dylib")

#: Prefix of the module names of Python files with congestion controls.
MODULE_PREFIX = "celltcp_own_"

Class = TypeVar("Class", bound=type[CongestionControl])


def register(cca: Class) -> Class:
    """Adds a class to the catalogue of this process; can be used as a decorator.

    It replaces a class that was added under the same name before.

    Raises:
        CelltcpError: if the class has no name or the name of a built-in CCA, or if an argument has no
            default, or one other than a number, text or bool.
    """
    name = getattr(cca, "name", None)
    if not isinstance(name, str):
        raise CelltcpError(f"{cca.__name__}: has no name; give it as a class attribute")
    register_cca(name, cca.title or name, cca.year, cca, cca.interval, _parameters(cca))
    register_sources({name: _source(cca)})
    return cca


def register_file(file: str | Path) -> None:
    """Adds the congestion controls of a Python file or a shared library to the catalogue.

    Raises:
        CelltcpError: if the file is missing, has no congestion control, or fails to run.
    """
    path = Path(file)
    if not path.is_file():
        raise CelltcpError(f"{file}: there is no such file")
    if path.suffix in _LIBRARY_ENDINGS:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        register_sources(dict.fromkeys(register_library(path), digest))
    elif path.suffix == ".py":
        _register_module(file, path)
    else:
        raise CelltcpError(
            f"{file}: is no Python file; allowed: one that ends in .py. A congestion control in Rust "
            f"is given as the library that it is built into ({', '.join(_LIBRARY_ENDINGS)})"
        )


def _register_module(file: str | Path, path: Path) -> None:
    """Executes a Python file and registers its congestion controls."""
    module = types.ModuleType(f"{MODULE_PREFIX}{path.stem}")
    module.__file__ = str(path.resolve())
    # inspect finds the source of a class through its module.
    sys.modules[module.__name__] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except Exception as error:
        raise CelltcpError(f"{file}: {type(error).__name__}: {error}") from error
    classes = [
        member
        for member in vars(module).values()
        if isinstance(member, type)
        and issubclass(member, CongestionControl)
        and member.__module__ == module.__name__
        and not inspect.isabstract(member)
    ]
    if not classes:
        raise CelltcpError(f"{file}: has no class that is a celltcp.CongestionControl")
    for cca in classes:
        register(cca)


def _parameters(cca: type) -> list[tuple[str, str, str]]:
    """Returns names, types and defaults (as text) of the arguments of a class."""
    if cca.__init__ is object.__init__:  # type: ignore[misc]
        return []
    result = []
    for argument in list(inspect.signature(cca.__init__).parameters.values())[1:]:  # type: ignore[misc]
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        value = argument.default
        # bool comes first, because it is a subclass of int.
        value_type = next((cls for cls in (bool, int, float, str) if isinstance(value, cls)), None)
        if value_type is None or argument.kind is argument.POSITIONAL_ONLY:
            given = "no default" if value is argument.empty else f"the default {value!r}"
            raise CelltcpError(
                f"{cca.__name__}: the argument {argument.name} of __init__ has {given}; allowed: "
                "arguments that can be given by name, with a number, a text, True or False as default"
            )
        # `alpha: float = 1` also accepts 1.5.
        if value_type is int and argument.annotation in (float, "float"):
            value_type = float
        text = ("on" if value else "off") if value_type is bool else str(value)
        result.append((argument.name, value_type.__name__, text))
    return result


def _source(cca: type) -> str:
    """Returns the text of the file that defines a class; without a file, a unique text."""
    try:
        return Path(inspect.getfile(cca)).read_text("utf-8")
    except (OSError, TypeError, UnicodeDecodeError):
        return str(uuid.uuid4())
