"""Radio: the log of a cell and the goodput through it, by place, by scheme and by phase."""
