"""Edits: the few lines of the kernel's own source that celltcp changes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError


@dataclass(frozen=True)
class Edit:
    """A text in a file of the kernel's source, and its replacement.

    `pattern` is a regular expression that matches both before and after the edit, `text` its expansion.
    An edit that is not `required` is for kernels that still have such a place.
    """

    file: str
    subject: str
    pattern: str
    text: str
    required: bool = True


EDITS = (
    # Timers of TCP count ticks; HZ has no prompt in this architecture, so no configuration can set it.
    Edit(
        file="arch/um/Kconfig",
        subject="the default of HZ",
        pattern=r"(?m)^(config HZ\n\tint\n\tdefault) \d+$",
        text=r"\1 1000",
    ),
    # Linux 6.1 and 6.12 keep the host's floating-point registers in a field of fixed size, too small
    # for processors with AMX: 2696 bytes up to AVX-512, then 64 for XTILECFG and 8192 for XTILEDATA,
    # rounded up to pages (Intel SDM vol. 1, ch. 13).
    Edit(
        file="arch/x86/um/user-offsets.c",
        subject="the size of the floating-point registers",
        pattern=r"DEFINE_LONGS\(HOST_FP_SIZE, \d+\);",
        text="DEFINE_LONGS(HOST_FP_SIZE, 12288);",
        required=False,
    ),
)


def apply_edits(tree: Path) -> None:
    """Applies the edits to an unpacked source; edited text is left unchanged.

    Raises:
        CelltcpError: names the place that this kernel does not have.
    """
    for edit in EDITS:
        file = tree / edit.file
        before = file.read_text("utf-8") if file.is_file() else ""
        after, count = re.subn(edit.pattern, edit.text, before)
        if count == 0 and edit.required:
            raise CelltcpError(f"{file}: cannot patch {edit.subject}; tested with Linux 6.1 to 7.3")
        if after != before:
            file.write_text(after, "utf-8")
