"""JSON types of the commands of celltcp select."""
