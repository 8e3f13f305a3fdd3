"""Modules equal torch's: names of their state, repr, results, gradients and buffers, in training
and evaluation.
"""

from __future__ import annotations

import pytest
from both import copy_state

torch = pytest.importorskip("torch")
from parity import to_taeda, to_torch  # noqa: E402

import taeda  # noqa: E402 - after the check: without torch there is nothing to compare

VECTOR, SEQUENCE, IMAGE = (5, 6), (3, 4, 6), (2, 4, 8, 8)
CASES = [
    ("nn.Linear(6, 3)", VECTOR),
    ("nn.Linear(6, 3, bias=False)", SEQUENCE),
    ("nn.Bilinear(6, 6, 2)", (VECTOR, VECTOR)),
    ("nn.Identity()", VECTOR),
    ("nn.Flatten()", IMAGE),
    ("nn.Unflatten(1, (2, 3))", VECTOR),
    ("nn.Conv1d(4, 3, 3, padding=1)", SEQUENCE),
    ("nn.Conv2d(4, 6, 3, stride=2, padding=1)", IMAGE),
    ("nn.Conv2d(4, 8, 3, groups=2, bias=False)", IMAGE),
    ("nn.Conv2d(4, 4, 3, dilation=2, padding='same')", IMAGE),
    ("nn.Conv2d(4, 4, 3, padding=1, padding_mode='reflect')", IMAGE),
    ("nn.BatchNorm1d(6)", VECTOR),
    ("nn.BatchNorm1d(4)", SEQUENCE),
    ("nn.BatchNorm2d(4)", IMAGE),
    ("nn.BatchNorm2d(4, affine=False, momentum=None)", IMAGE),
    ("nn.BatchNorm2d(4, track_running_stats=False)", IMAGE),
    ("nn.LayerNorm(6)", SEQUENCE),
    ("nn.LayerNorm((4, 6), elementwise_affine=False)", SEQUENCE),
    ("nn.GroupNorm(2, 4)", IMAGE),
    ("nn.Dropout(0.0)", VECTOR),
    ("nn.MaxPool1d(2)", SEQUENCE),
    ("nn.MaxPool2d(3, 2, 1)", IMAGE),
    ("nn.AvgPool1d(2)", SEQUENCE),
    ("nn.AvgPool2d(2, padding=1, count_include_pad=False)", IMAGE),
    ("nn.AdaptiveAvgPool1d(3)", SEQUENCE),
    ("nn.AdaptiveAvgPool2d((2, 3))", IMAGE),
    ("nn.AdaptiveMaxPool2d(2)", IMAGE),
    *((f"nn.{name}()", VECTOR) for name in ("ReLU", "GELU", "SiLU", "Sigmoid", "Tanh", "Softplus",
        "LeakyReLU", "ELU")),
    ("nn.Softmax(dim=1)", VECTOR),
    ("nn.LogSoftmax(dim=-1)", VECTOR),
    ("nn.GELU(approximate='tanh')", VECTOR),
    ("nn.MSELoss()", (VECTOR, VECTOR)),
    ("nn.L1Loss(reduction='sum')", (VECTOR, VECTOR)),
    ("nn.BCEWithLogitsLoss()", (VECTOR, VECTOR)),
    ("nn.Sequential(nn.Linear(6, 8), nn.Sequential(nn.ReLU(), nn.Linear(8, 2)))", VECTOR),
    ("nn.Sequential(nn.Conv2d(4, 8, 3), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2))", IMAGE),
]  # fmt: skip


@pytest.mark.parametrize("training", [True, False], ids=["train", "eval"])
@pytest.mark.parametrize(("text", "shapes"), CASES, ids=[text for text, _ in CASES])
def test_a_module_computes_the_same(text, shapes, training):
    ours, theirs = pair(text)
    ours.train(training)
    theirs.train(training)
    x = inputs(shapes)
    theirs_in = [value.clone().requires_grad_() for value in x]
    ours_in = [to_taeda(value).requires_grad_() for value in x]
    expected, found = theirs(*theirs_in), ours(*ours_in)
    close(found, expected)
    weight = torch.linspace(-1, 1, max(1, expected.numel())).reshape(expected.shape)
    (expected * weight).sum().backward()
    (found * to_taeda(weight)).sum().backward()
    for one, other in zip(ours_in, theirs_in, strict=True):
        close(one.grad, other.grad)
    for (name, one), (_, other) in zip(
        ours.named_parameters(), theirs.named_parameters(), strict=True
    ):
        assert (one.grad is None) == (other.grad is None), name
        if other.grad is not None:
            close(one.grad, other.grad)
    for (name, one), (_, other) in zip(
        ours.state_dict().items(), theirs.state_dict().items(), strict=True
    ):
        close(one, other, name)


@pytest.mark.parametrize(("text", "shapes"), CASES, ids=[text for text, _ in CASES])
def test_a_module_is_built_and_printed_the_same(text, shapes):
    ours, theirs = pair(text)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [name for name, _ in ours.named_modules()] == [
        name for name, _ in theirs.named_modules()
    ]
    for (name, one), other in zip(
        ours.state_dict().items(), theirs.state_dict().values(), strict=True
    ):
        assert tuple(one.shape) == tuple(other.shape), name
        assert str(one.dtype).partition(".")[2] == str(other.dtype).partition(".")[2], name


def test_embedding():
    ours, theirs = pair("nn.Embedding(7, 3, padding_idx=2)")
    codes = torch.tensor([[0, 2, 6], [2, 2, 1]])
    expected, found = theirs(codes), ours(to_taeda(codes))
    close(found, expected)
    expected.sum().backward()
    found.sum().backward()
    close(ours.weight.grad, theirs.weight.grad)


def test_cross_entropy():
    ours, theirs = pair("nn.CrossEntropyLoss(label_smoothing=0.1, ignore_index=1)")
    (scores,) = inputs((5, 4))
    labels = torch.tensor([0, 1, 2, 3, 0])
    close(ours(to_taeda(scores), to_taeda(labels)), theirs(scores, labels))


SPREAD = [
    "kaiming_uniform_(x, a=5**0.5)",
    "kaiming_normal_(x, mode='fan_out', nonlinearity='relu')",
    "xavier_uniform_(x)",
    "xavier_normal_(x, gain=2.0)",
    "normal_(x, 1.0, 0.1)",
    "uniform_(x, -2, 3)",
    "trunc_normal_(x, std=0.5)",
]


@pytest.mark.parametrize("text", SPREAD)
def test_initialisation_has_the_same_spread(text):
    """Values differ, because the streams do; mean, deviation and extremes tell a wrong fan or gain."""
    facts = []
    for library in (taeda, torch):
        library.manual_seed(0)
        x = library.empty(300, 400)
        eval(f"library.nn.init.{text}", {"library": library, "x": x})
        facts.append([x.mean().item(), x.std().item(), x.min().item(), x.max().item()])
    (mean, std, low, high), (mean2, std2, low2, high2) = facts
    assert abs(mean - mean2) < 0.02 * std2
    assert abs(std - std2) < 0.02 * std2
    assert max(abs(low - low2), abs(high - high2)) < std2


def pair(text):
    """The module of either library, with the same parameters."""
    ours, theirs = (eval(text, {"nn": library.nn}) for library in (taeda, torch))
    copy_state(theirs, ours, taeda.from_numpy)
    return ours, theirs


def inputs(shapes):
    generator = torch.Generator().manual_seed(0)
    shapes = shapes if isinstance(shapes[0], tuple) else (shapes,)
    return [torch.randn(shape, generator=generator) for shape in shapes]


def close(ours, theirs, message=""):
    torch.testing.assert_close(
        to_torch(ours), theirs.detach(), rtol=1e-4, atol=1e-5, msg=lambda said: f"{message} {said}"
    )
