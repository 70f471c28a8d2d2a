"""Presentation: tables and figures on the terminal, in Markdown and in HTML."""
