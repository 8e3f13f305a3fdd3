"""What the page of a profile shows: lines of the program, advice where it was asked for."""

import pytest

import taeda
from taeda.profiler import profile
from taeda.profiler._report import report


def work():
    for _ in range(100):
        taeda.ones(4).exp()


def page_of(tmp_path, **asked):
    with profile(**asked) as prof:
        work()
    prof.export_html(tmp_path / "page.html")
    return (tmp_path / "page.html").read_text()


def test_advice_stands_in_the_page_of_a_profile_that_asked_for_it(tmp_path, monkeypatch):
    # whatever share of the time the loop takes: a busy machine stretches the rest
    monkeypatch.setattr("taeda.profiler._wastes.calls.LITTLE", 0.0)
    text = page_of(tmp_path, with_advice=True)
    assert "an operation on a few numbers runs 100 times" in text and f"{__file__}:12" in text
    assert "<pre>taeda.ones(4).exp()</pre>" in text  # the line itself
    assert "G operations/s" in text and "Nobody looked" not in text


@pytest.mark.parametrize(("asked", "lines"), [({}, False), ({"with_stack": True}, True)])
def test_what_was_not_asked_for_says_how_to_ask(tmp_path, asked, lines):
    text = page_of(tmp_path, **asked)
    assert "with_advice=True" in text and "Nobody looked" in text
    assert ("Not recorded: pass with_stack=True" in text) is not lines
    assert (f"{__file__}:12" in text) is lines


def test_all_is_put_back_after_a_profile_with_advice():
    before = taeda.Tensor.item, taeda.tensor
    with profile(with_advice=True) as prof:
        work()
        assert taeda.tensor is not before[1]
    assert (taeda.Tensor.item, taeda.tensor) == before
    assert prof.key_averages()[0].count == 100


def test_nothing_ran():
    shown = report("empty", [])
    assert shown.took == 0 and shown.limits is None and not shown.lines
