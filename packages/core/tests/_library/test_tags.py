"""Tags: what is known of an operator beyond its schema."""

from __future__ import annotations

import pytest

import taeda
from taeda._library.tags import Tag, as_tags


def test_one_or_several():
    assert as_tags(None) == () and as_tags(Tag.core) == (Tag.core,)
    assert as_tags([Tag.core, Tag.inplace]) == (Tag.core, Tag.inplace)
    for wrong in ("core", ["core"], [Tag.core, 3]):
        with pytest.raises(TypeError, match=r"tags are taeda\.Tag or a sequence of them"):
            as_tags(wrong)


def test_names():
    assert taeda.Tag is Tag and Tag.pointwise.name == "pointwise"
    assert repr(Tag.core) == "<Tag.core: 0>" and len({tag.value for tag in Tag}) == len(Tag)
