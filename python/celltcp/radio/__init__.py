"""What becomes of the radio under TCP: by place, by scheme, by phase."""
