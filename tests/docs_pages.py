"""Pages of the documentation: their headings, words, sentences and links."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
#: Words that a sentence may have.
MAX_SENTENCE_WORDS = 25
#: Folder of each kind of page.
KINDS = {
    "tutorial": "Tutorial",
    "how-to": "How-to",
    "reference": "Reference",
    "explanation": "Explanation",
    "results": "Results",
    "contribute": "Contribute",
}


def pages() -> list[Path]:
    """Returns all pages: the README and those of the site."""
    return [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]


def name_of(page: Path) -> str:
    """Returns the path of a page from `docs`, or `README.md`."""
    return page.relative_to(DOCS if DOCS in page.parents else ROOT).as_posix()


def kind_of(page: Path) -> str | None:
    """Returns the kind of a page by its folder; `None` for pages of no kind."""
    return KINDS.get(name_of(page).split("/")[0]) if DOCS in page.parents else None


def prose_lines(text: str) -> Iterator[str]:
    """Yields the lines outside of blocks of code."""
    is_code = False
    for line in text.splitlines():
        if line.lstrip().startswith("```"):
            is_code = not is_code
        elif not is_code:
            yield line


def headings(text: str) -> list[str]:
    """Returns the texts of all headings."""
    matches = (re.match(r"#+ (.*)", line) for line in prose_lines(text))
    return [match[1] for match in matches if match]


def anchors(text: str) -> set[str]:
    """Returns the anchors of all headings, as the site makes them."""
    found: set[str] = set()
    for heading in headings(text):
        slug = re.sub(r"[^\w\s-]", "", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)).strip().lower()
        slug, number = re.sub(r"[-\s]+", "-", slug), 0
        while (each := f"{slug}_{number}" if number else slug) in found:
            number += 1
        found.add(each)
    return found


def words(page: Path) -> int:
    """Returns the number of words of a page."""
    return len(page.read_text().split())


def written_words() -> int:
    """Returns the number of hand-written words: all pages, of pages of results the notes only."""
    results = tomllib.loads((DOCS / "results.toml").read_text())["pages"]
    notes = sum(len(each.get("notes", "").split()) for each in results)
    return notes + sum(words(page) for page in pages() if kind_of(page) != "Results")


def sentences(text: str) -> Iterator[str]:
    """Yields the sentences of a page; tables, headings and code are none.

    A sentence ends at a full stop, question mark or exclamation mark, and with its paragraph or item.
    """
    paragraph: list[str] = []
    for line in [*prose_lines(text), ""]:
        stripped = line.strip()
        begins = re.match(r"([-*]|\d+\.) ", stripped)
        is_other = stripped.startswith(("|", "#", "![", "<!--"))
        if not stripped or begins or is_other:
            yield from _parts(" ".join(paragraph))
            paragraph = []
        if stripped and not is_other:
            paragraph.append(stripped[begins.end() :] if begins else stripped)


def _parts(paragraph: str) -> Iterator[str]:
    plain = re.sub(r"`[^`]*`", "CODE", paragraph)
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", plain)
    for sentence in re.split(r"(?<=[.?!])[*)\"']*\s+(?=[A-Z0-9*\"(]|celltcp|fish|zsh)", plain):
        if sentence.strip():
            yield sentence.strip()


def links(text: str) -> list[str]:
    """Returns the targets of all links and pictures."""
    plain = re.sub(r"`[^`]*`", "", "\n".join(prose_lines(text)))
    return re.findall(r"\]\(([^)\s]+)\)", plain)


if __name__ == "__main__":
    print(written_words())
