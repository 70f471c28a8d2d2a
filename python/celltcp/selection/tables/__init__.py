"""Tables of the commands of celltcp select."""
