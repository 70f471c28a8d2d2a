"""Files: atomic writes, locks, replacement of existing files."""
