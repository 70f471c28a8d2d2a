"""Own congestion controls: classes in Python, and libraries in Rust."""

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
from celltcp.scenarios.ccas import note_sources


@dataclass(frozen=True)
class Decision:
    """Decision of a congestion control: new values; None leaves one as it is.

    Attributes:
        cwnd: congestion window, segments, from 1 on.
        pacing_rate_mbps: rate at which segments are paced out, Mbit/s; without one ever given, segments
            leave as ACKs let them.
    """

    cwnd: float | None = None
    pacing_rate_mbps: float | None = None


class CongestionControl(ABC):
    """A congestion control that receives reports, and answers with a window and a pacing rate.

    An object is made for each connection that sends. Reports come every `interval`, and when losses
    or a retransmission time-out begin; never per packet. In between, window and rate stay as they are;
    lost segments are retransmitted within the window, and after a time-out the window grows back to
    what was decided. What a report says is in `celltcp.Report`.

    Arguments of `__init__` with defaults (numbers, texts, True or False) are parameters: with
    `def __init__(self, alpha: float = 1.0)`, the list `"mine,mine:alpha=2"` compares two values.

    Attributes:
        name: by which scenarios and commands know it.
        title: the name in full, for tables.
        year: for tables.
        interval: between reports, such as `"10ms"`, from 1 ms on; None for an RTT each time.
    """

    name: ClassVar[str]
    title: ClassVar[str] = ""
    year: ClassVar[int] = 0
    interval: ClassVar[str | None] = None

    @abstractmethod
    def report(self, report: Report) -> Decision | None:
        """Answers a report; the first one has the cause `"start"`."""


#: Endings of shared libraries.
_LIBRARIES = (".so", ".dylib")

#: Prefix of the module names of files with own congestion controls.
MODULE_PREFIX = "celltcp_own_"

Class = TypeVar("Class", bound=type[CongestionControl])


def register(cca: Class) -> Class:
    """Adds a class to the catalogue for the life of the process; may be used as a decorator.

    A class of the same name that was added earlier is replaced.

    Raises:
        CelltcpError: if the class has no name, or one that celltcp has itself, or an argument whose
            default is missing or no number, text or truth value.
    """
    name = getattr(cca, "name", None)
    if not isinstance(name, str):
        raise CelltcpError(f"{cca.__name__}: has no name; give it as a class attribute")
    register_cca(name, cca.title or name, cca.year, cca, cca.interval, _parameters(cca))
    note_sources({name: _source(cca)})
    return cca


def register_file(file: str | Path) -> None:
    """Adds the congestion controls of a file to the catalogue: classes in Python, or a library in Rust.

    Raises:
        CelltcpError: if there is no such file, it has no congestion control, or it cannot be run.
    """
    path = Path(file)
    if not path.is_file():
        raise CelltcpError(f"{file}: there is no such file")
    if path.suffix in _LIBRARIES:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        note_sources(dict.fromkeys(register_library(path), digest))
    elif path.suffix == ".py":
        _register_module(file, path)
    else:
        raise CelltcpError(
            f"{file}: is no Python file; allowed: one that ends in .py. A congestion control in Rust "
            f"is given as the library that it is built into ({', '.join(_LIBRARIES)})"
        )


def _register_module(file: str | Path, path: Path) -> None:
    """Runs a Python file, and adds the classes of congestion controls in it to the catalogue."""
    module = types.ModuleType(f"{MODULE_PREFIX}{path.stem}")
    module.__file__ = str(path.resolve())
    # The source of a class is found by way of its module.
    sys.modules[module.__name__] = module
    try:
        exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    except Exception as error:
        raise CelltcpError(f"{file}: {type(error).__name__}: {error}") from error
    classes = [
        var
        for var in vars(module).values()
        if isinstance(var, type)
        and issubclass(var, CongestionControl)
        and var.__module__ == module.__name__
        and not inspect.isabstract(var)
    ]
    if not classes:
        raise CelltcpError(f"{file}: has no class that is a celltcp.CongestionControl")
    for each in classes:
        register(each)


def _parameters(cca: type) -> list[tuple[str, str, str]]:
    """Returns names, types and defaults (as text) of the arguments of a class."""
    if cca.__init__ is object.__init__:  # type: ignore[misc]
        return []
    result = []
    for argument in list(inspect.signature(cca.__init__).parameters.values())[1:]:  # type: ignore[misc]
        if argument.kind in (argument.VAR_POSITIONAL, argument.VAR_KEYWORD):
            continue
        value = argument.default
        # True is an int, too, so that it is tried first.
        kind = next((each for each in (bool, int, float, str) if isinstance(value, each)), None)
        if kind is None or argument.kind is argument.POSITIONAL_ONLY:
            given = "no default" if value is argument.empty else f"the default {value!r}"
            raise CelltcpError(
                f"{cca.__name__}: the argument {argument.name} of __init__ has {given}; allowed: "
                "arguments that can be given by name, with a number, a text, True or False as default"
            )
        # `alpha: float = 1` accepts 1.5, too.
        if kind is int and argument.annotation in (float, "float"):
            kind = float
        text = ("on" if value else "off") if kind is bool else str(value)
        result.append((argument.name, kind.__name__, text))
    return result


def _source(cca: type) -> str:
    """Returns the text of the file of a class; a unique text for a class without a file."""
    try:
        return Path(inspect.getfile(cca)).read_text("utf-8")
    except (OSError, TypeError, UnicodeDecodeError):
        return str(uuid.uuid4())
