"""Curves in a notebook: drawn again as time passes, small whatever the number of points."""

import sys
import types
import xml.etree.ElementTree as ET

import pytest

from taeda.utils.tensorboard._live import LivePlot, display_of_notebook


class Notebook:
    """Counts what is drawn; a second passes when it is told."""

    def __init__(self):
        self.now, self.drawn = 0.0, []

    def show(self, plot):
        return lambda made: self.drawn.append(made._repr_html_())

    def plot(self, *tags, seconds=1.0):
        return LivePlot(tags, seconds, self.show, lambda: self.now)


def curves(text):
    root = ET.fromstring(text[: text.index("</svg>") + 6])
    return [line.get("points").split() for line in root.iter("polyline")]


def test_a_picture_is_drawn_again_when_the_last_is_old():
    book = Notebook()
    plot = book.plot()
    for step in range(100):
        plot.add("loss", 1 / (1 + step), step)
    assert book.drawn == [] and "loss: 0.01" in plot._repr_html_()
    book.now = 1.5
    plot.add("loss", 0.5, 100)
    assert len(book.drawn) == 1 and len(curves(book.drawn[0])[0]) == 101


def test_only_tags_that_were_asked_for():
    plot = Notebook().plot("loss")
    plot.add("other", 1.0, 0)
    assert plot._repr_html_() == "<p>No scalars yet.</p>"
    plot.add("loss", 1.0, 0)
    assert len(curves(plot._repr_html_())) == 1


def test_a_long_run_stays_small_and_keeps_its_ends():
    plot = Notebook().plot()
    for step in range(50_000):
        plot.add("loss", float(step), step)
    (points,) = curves(plot._repr_html_())
    assert 400 < len(points) <= 1000 and points[0].startswith("56.0,")
    steps = [step for step, _ in plot._curves["loss"]]
    assert steps == sorted(steps) and steps[-1] > 49_000


def test_numbers_that_are_none_and_names_that_are_html():
    plot = Notebook().plot()
    plot.add("<b>", float("nan"), 0)
    plot.add("<b>", 2.0, 1)
    text = plot._repr_html_()
    assert len(curves(text)[0]) == 1 and "&lt;b&gt;" in text and "<b>" not in text


def test_bad_arguments_and_no_notebook():
    with pytest.raises(ValueError, match="above 0"):
        Notebook().plot(seconds=0)
    with pytest.raises(RuntimeError, match="tensorboard --logdir"):
        display_of_notebook(None)


def test_within_a_notebook_one_display_is_updated(monkeypatch, tmp_path):
    pytest.importorskip("tensorboard", reason="event files are its")
    from taeda.utils.tensorboard import SummaryWriter

    shown = []
    handle = types.SimpleNamespace(update=lambda made: shown.append(made._repr_html_()))
    display = types.ModuleType("IPython.display")
    display.display = lambda made, display_id: shown.append(made._repr_html_()) or handle
    inside = types.ModuleType("IPython")
    inside.get_ipython, inside.display = (lambda: object()), display
    monkeypatch.setitem(sys.modules, "IPython", inside)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    with SummaryWriter(tmp_path) as writer:
        writer.show("loss", seconds=1000)
        for step in range(3):
            writer.add_scalar("loss", step / 2, step)
            writer.add_scalar("accuracy", 1.0, step)
    assert shown[0] == "<p>No scalars yet.</p>" and len(shown) == 2  # the last one at the end
    assert "loss: 1" in shown[1] and "accuracy" not in shown[1]
