"""Documentation: pages of one kind, their size, sentences and links."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs_pages import (
    MOST_WORDS,
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

#: Hand-written words of all pages.
CEILING = 25_000
#: Words that a page of a kind may have.
BUDGETS = {"How-to": 450, "Explanation": 1400}
#: Pages with a budget of their own.
LONGER = {"how-to/choose-a-cca.md": 850}

OF_A_KIND = [page for page in pages() if kind_of(page)]


def test_hand_written_words_stay_below_the_ceiling() -> None:
    assert written_words() <= CEILING


@pytest.mark.parametrize("page", OF_A_KIND, ids=name_of)
def test_a_page_has_one_kind_and_says_its_question_and_its_sentences_are_short(page: Path) -> None:
    text = page.read_text()
    kind = kind_of(page)
    second = text.splitlines()[2]
    assert second.startswith(f"*{kind}: "), second
    assert second.endswith("?*"), second
    if kind != "Results":
        long = [each for each in sentences(text) if len(each.split()) > MOST_WORDS]
        assert not long
        measured = [line for line in prose_lines(text) if re.search(r"\d ?± ?\d", line)]
        assert not measured
    # The site nests items of lists from four spaces on.
    assert not [line for line in prose_lines(text) if re.match(r" {1,3}([-*]|\d+\.) ", line)]
    budget = LONGER.get(name_of(page), BUDGETS.get(kind or ""))
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
