"""Documentation: kind, length, sentences and links of each page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs_pages import (
    MAX_SENTENCE_WORDS,
    anchors,
    kind_of,
    links,
    name_of,
    pages,
    prose_lines,
    sentences,
    words,
    written_words,
)

#: Maximum of hand-written words in all pages together.
MAX_WORDS = 25_000
#: Maximum of words in a page, by its kind.
MAX_PAGE_WORDS = {"How-to": 450, "Explanation": 1400}
#: Pages with another maximum.
EXCEPTIONS = {"how-to/choose-a-cca.md": 850}

PAGES_WITH_KIND = [page for page in pages() if kind_of(page)]


def test_hand_written_words_stay_below_the_maximum() -> None:
    assert written_words() <= MAX_WORDS


@pytest.mark.parametrize("page", PAGES_WITH_KIND, ids=name_of)
def test_a_page_states_its_kind_and_question_in_short_sentences(page: Path) -> None:
    text = page.read_text()
    kind = kind_of(page)
    second = text.splitlines()[2]
    assert second.startswith(f"*{kind}: "), second
    assert second.endswith("?*"), second
    if kind != "Results":
        long = [each for each in sentences(text) if len(each.split()) > MAX_SENTENCE_WORDS]
        assert not long
        measured = [line for line in prose_lines(text) if re.search(r"\d ?± ?\d", line)]
        assert not measured
    # mkdocs nests list items from an indent of four spaces on.
    assert not [line for line in prose_lines(text) if re.match(r" {1,3}([-*]|\d+\.) ", line)]
    budget = EXCEPTIONS.get(name_of(page), MAX_PAGE_WORDS.get(kind or ""))
    assert budget is None or words(page) <= budget


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_of_a_page_hold(page: Path) -> None:
    for link in links(page.read_text()):
        path, _, anchor = link.partition("#")
        if "://" in link or link.startswith("mailto:"):
            continue
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target.read_text()), link
