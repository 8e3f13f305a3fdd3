"""What is said about gradients that are not averaged."""

from __future__ import annotations

from taeda.nn.parallel import _texts


def test_each_names_the_parameters_and_what_to_do():
    text = _texts.unfinished(1, "a, b", 2, 5)
    assert "rank 1 got no gradient for 2 of 5 parameters: a, b." in text
    assert "find_unused_parameters=True" in text
    assert "rank 0 failed in backward" in _texts.unfinished(0, "", 0, 5)
    assert "a, b got them around" in _texts.stepped("a, b") and "no_sync()" in _texts.stepped("a")
    assert "static_graph=True if" in _texts.twice("a", False)
    assert "Leave static_graph out" in _texts.twice("a", True)
    assert "rank 2 a got fewer" in _texts.fewer(2, "a")
