"""Decisions: one form of title, an index that has each page once, by subject, and no number missing without a
word.
"""

from __future__ import annotations

import re

import pytest
from by_path import ROOT

FOLDER = ROOT / "docs" / "decisions"
PAGES = {path.stem: path.read_text() for path in sorted(FOLDER.glob("[0-9]*.md"))}
INDEX = (FOLDER / "index.md").read_text()
LISTS = re.findall(r"^```\{toctree\}\n:maxdepth: 1\n\n(.*?)\n```$", INDEX, re.M | re.S)
#: a page that says of itself that it changes another: the word, then a link
CHANGES = re.compile(r"^(?:Supersedes|Changes)\b[^\n]*?(?:\{doc\}`|\]\()(\d{4}-[a-z0-9-]+)", re.M)
MERGED = 125


@pytest.mark.parametrize("page", PAGES)
def test_a_title_is_the_number_and_a_sentence(page):
    number, title = page[:4], PAGES[page].partition("\n")[0]
    assert re.fullmatch(rf"# {number} [A-Z0-9`].*[^.:]", title), (
        f"{page}: the title is {title!r}, write '# {number} Sentence that begins with a capital letter'"
    )


def test_the_index_has_every_page_once():
    listed = [page for pages in LISTS for page in pages.split("\n")]
    assert sorted(listed) == sorted(PAGES), (
        "docs/decisions/index.md: put each page below its subject"
    )


def test_numbers_stand_in_order_below_each_subject():
    for pages in LISTS:
        assert pages.split("\n") == sorted(pages.split("\n"))


def test_a_number_is_a_page_or_was_withdrawn():
    withdrawn = re.findall(r"\b\d{4}\b", INDEX.partition("## Withdrawn")[2])
    given = [*(page[:4] for page in PAGES), *withdrawn]
    merged = sorted(number for number in given if int(number) <= MERGED)
    assert merged == [f"{number:04}" for number in range(1, len(merged) + 1)]


def test_a_page_that_changes_another_is_named_there():
    changes = [(new, old) for new, text in PAGES.items() for old in CHANGES.findall(text)]
    assert changes, "the form of these lines is not what this test reads"
    for new, old in changes:
        assert new in PAGES[old], f"{old} does not name {new}, which changes it"
