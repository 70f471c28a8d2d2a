"""Radio: analysis of the radio log and of the goodput by place, by scheme and by phase."""
