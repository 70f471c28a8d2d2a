"""Lines to set: commands of Linux, Windows and FreeBSD for fields of a scenario."""
