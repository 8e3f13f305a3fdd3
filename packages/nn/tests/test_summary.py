"""Counts and shapes of a model's layers; nothing of the model changes."""

import sys

import pytest

import taeda
from taeda import nn


def model():
    layer = nn.Linear(3, 3)
    net = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm1d(3), layer, layer)
    net[0].requires_grad_(False)
    return net


def test_shared_and_frozen_parameters_count_once():
    net = model()
    found = nn.summary(net)
    assert found.parameters == sum(p.numel() for p in net.parameters()) == 9 + 6 + 12
    assert (found.trainable, found.buffers) == (18, 7)
    assert found.bytes == 27 * 4 + 6 * 4 + 8
    assert [line.total for line in found.lines] == [27, 9, 6, 12, 0]
    assert [line.note for line in found.lines] == ["", "frozen", "", "", "shared"]
    assert "27 parameters (9 of them frozen), 7 numbers in buffers" in str(found)
    assert "output" not in str(found)


def test_shapes_come_from_one_run_that_leaves_no_trace():
    net = model().train()
    before = {k: v.clone() for k, v in net.state_dict().items()}
    found = nn.summary(net, taeda.ones(4, 2))
    assert [line.output for line in found.lines] == ["[4, 3]"] * 5
    assert all(module.training for module in net.modules())
    assert all(taeda.equal(v, before[k]) for k, v in net.state_dict().items())
    assert not any(module._forward_hooks for module in net.modules())
    lstm = nn.summary(nn.LSTM(2, 3), taeda.ones(5, 1, 2))
    assert lstm.lines[0].output == "([5, 1, 3], ([1, 1, 3], [1, 1, 3]))"


def test_hooks_are_gone_after_an_error():
    net = model()
    try:
        nn.summary(net, taeda.ones(4, 7))
    except RuntimeError:
        assert not any(module._forward_hooks for module in net.modules())
        assert all(module.training for module in net.modules())
    else:
        raise AssertionError


def test_depth_ends_the_tree_and_not_the_count():
    net = nn.Sequential(nn.Sequential(nn.Linear(2, 2)))
    assert [line.total for line in nn.summary(net, depth=1).lines] == [6, 6]


def test_a_notebook_shows_the_tree():
    page = nn.Sequential(nn.Linear(2, 3))._repr_html_()
    assert page.startswith("<table>") and "0: Linear" in page and "9 parameters" in page

    class Odd(nn.Module):
        def extra_repr(self):
            return "<script>"

    Odd.__name__ = "<b>"
    assert "&lt;b&gt;" in Odd()._repr_html_() and "<script>" not in Odd()._repr_html_()


def test_sizes_stand_for_an_input_of_zeros():
    net = nn.Sequential(nn.Conv2d(3, 2, 3), nn.Flatten())
    by_sizes, by_tensor = nn.summary(net, (4, 3, 5, 5)), nn.summary(net, taeda.ones(4, 3, 5, 5))
    assert str(by_sizes) == str(by_tensor) and "[4, 18]" in str(by_sizes)


@pytest.mark.parametrize(
    ("width", "size"), [(1, "8 bytes"), (20, "1.68 kB"), (600, "1.44 MB"), (20_000, "1.60 GB")]
)
def test_sizes_have_a_unit_in_which_they_can_be_read(width, size):
    with taeda.device("meta"):
        assert str(nn.summary(nn.Linear(width, width))).endswith(f", {size}")


def test_memory_and_multiply_adds_of_one_run():
    pytest.importorskip("taeda.utils.flop_counter", reason="work is counted by taeda-profiler")
    layer = nn.Linear(8, 8)
    net = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.Flatten(), layer, layer)
    found = nn.summary(net, (5, 1, 4, 4))
    convolution, linear = 5 * 2 * 2 * 2 * 9, 5 * 8 * 8
    work = [line.work for line in found.lines]
    assert work == [convolution + 2 * linear, convolution, 0, 2 * linear, 2 * linear]
    assert found.multiply_adds == convolution + 2 * linear
    assert [line.held for line in found.lines][:3] == [5 * 8 * 4] * 3
    assert found.outputs == 4 * 5 * 8 * 4
    assert "multiply-adds" in str(found) and "<th>memory</th>" in found._repr_html_()
    assert nn.summary(net).multiply_adds is None and "memory" not in str(nn.summary(net))


def test_work_is_left_out_where_nobody_counts(monkeypatch):
    monkeypatch.setitem(sys.modules, "taeda.utils.flop_counter", None)
    found = nn.summary(nn.Linear(2, 3), (4, 2))
    assert found.multiply_adds is None and "multiply-adds" not in str(found)
    assert found.outputs == 48
