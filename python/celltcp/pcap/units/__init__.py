"""Units of work in captures: responses, frames, page loads and segments of videos, and their delays."""
