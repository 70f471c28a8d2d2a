"""Edits of the kernel's own source that celltcp needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from celltcp._core import CelltcpError


@dataclass(frozen=True)
class Edit:
    """Replacement of a text in a file of the kernel's source.

    `pattern` is a regular expression that matches both before and after the edit, and `text` its
    replacement. An edit that is not `required` is skipped for kernels without such a text.
    """

    file: str
    subject: str
    pattern: str
    text: str
    required: bool = True


EDITS = (
    # TCP's timers count ticks of 1/HZ s. The configuration cannot set HZ, because arch/um has no prompt
    # for it.
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
    """Applies the edits to an unpacked source; can be repeated.

    Raises:
        CelltcpError: if a required text is missing.
    """
    for edit in EDITS:
        file = tree / edit.file
        before = file.read_text("utf-8") if file.is_file() else ""
        after, count = re.subn(edit.pattern, edit.text, before)
        if count == 0 and edit.required:
            raise CelltcpError(f"{file}: cannot patch {edit.subject}; tested with Linux 6.1 to 7.3")
        if after != before:
            file.write_text(after, "utf-8")
