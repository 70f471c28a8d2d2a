"""Hook of mkdocs: puts the parts that docs/generated.py wrote to target/generated in their places."""

import re
from pathlib import Path

_PARTS = Path(__file__).parent.parent / "target" / "generated"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Returns the page with the part in the place of each line `<!-- generated: NAME -->`."""
    return re.sub(r"<!-- generated: ([a-z]+) -->", _part, markdown)


def _part(match: re.Match[str]) -> str:
    return (_PARTS / f"{match[1]}.md").read_text("utf-8")
