"""Hook of mkdocs: generated parts of pages, and the former paths of pages."""

import csv
import os
import re
from pathlib import Path
from typing import Any

_DOCS = Path(__file__).parent
_PARTS = _DOCS.parent / "target" / "generated"


def on_page_markdown(markdown: str, **_: object) -> str:
    """Returns the page with the part in the place of each line `<!-- generated: NAME -->`.

    docs/generated.py writes the parts to target/generated.
    """
    return re.sub(r"<!-- generated: ([a-z]+) -->", _part, markdown)


def _part(match: re.Match[str]) -> str:
    return (_PARTS / f"{match[1]}.md").read_text("utf-8")


def on_files(files: Any, *, config: Any) -> Any:
    """Adds the pages of former paths."""
    from mkdocs.structure.files import File, InclusionLevel

    for path, text in former_pages().items():
        place = InclusionLevel.NOT_IN_NAV
        files.append(File.generated(config, path, content=text, inclusion=place))
    return files


def former_pages() -> dict[str, str]:
    """Returns a page for each former path in moved.csv, with links to where its contents are now."""
    with (_DOCS / "moved.csv").open(encoding="utf-8") as file:
        return {
            row["page"]: _former_page(row["page"], row["to"].split()) for row in csv.DictReader(file)
        }


def _former_page(path: str, targets: list[str]) -> str:
    items = (f"- [{_title(to)}]({os.path.relpath(to, Path(path).parent)})\n" for to in targets)
    return "---\nsearch:\n  exclude: true\n---\n\n# Moved\n\nThis page is now:\n\n" + "".join(items)


def _title(page: str) -> str:
    return (_DOCS / page).read_text("utf-8").partition("\n")[0].removeprefix("# ")
