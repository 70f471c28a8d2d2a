#!/usr/bin/env bash
# rustc for `make test`: compiles tests at level 0 of optimisation. Cargo has one level for a crate and its tests, but
# tests compile in less than half of the time at level 0, and most of them run for a moment.
# Not for sh, which loses variables with hyphens in their names, such as CARGO_BIN_EXE_celltcp-counts.
case "$CARGO_PKG_NAME $* " in
"celltcp-middlebox "*) ;; # The tests themselves draw and compare much.
*" --test "*) set -- "$@" -C opt-level=0 ;;
esac
exec "$@"
