"""Exit codes of all commands, as `celltcp --help` lists them."""

from __future__ import annotations

#: Meaning of each code; those from 69 to 76 are of `sysexits.h`.
EXIT_CODES = {
    0: "done",
    1: "done; a check that was asked for has failed, or a capture was read in part",
    2: "input that cannot be used, or a file that cannot be read or written",
    69: "the kernel engine failed; the error has the output of the kernel",
    70: "a fault of celltcp; please report it",
    71: "no memory left",
    75: "the cluster is lost",
    76: "celltcp shell has not kept real time",
    130: "interrupted with Ctrl-C",
    141: "the reader of the output has closed it",
}

#: Last lines of the help, which click is not to wrap.
EPILOG = "\b\nExit codes:\n" + "\n".join(f"  {code:>3}  {text}" for code, text in EXIT_CODES.items())
