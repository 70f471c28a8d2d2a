"""celltcp."""
