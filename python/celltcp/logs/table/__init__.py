"""Tables of any origin: separators, columns, units and times, inferred from names and values."""
