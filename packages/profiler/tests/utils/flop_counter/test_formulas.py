"""Every formula against multiplications that are counted one by one."""

import pytest
from flop_counts import counted

import taeda
from taeda.utils.flop_counter._formulas import FORMULAS

nn = pytest.importorskip("taeda.nn", reason="layers and their gradients are counted")


F = nn.functional


ops = taeda.ops.aten


def r(*shape):
    return taeda.zeros(shape, requires_grad=True)


PRODUCTS = [
    ("mm", lambda: taeda.mm(r(2, 3), r(3, 4)), 2 * 24),
    ("bmm", lambda: taeda.bmm(r(5, 2, 3), r(5, 3, 4)), 2 * 120),
    ("addmm", lambda: taeda.addmm(r(4), r(2, 3), r(3, 4)), 2 * 24),
    ("baddbmm", lambda: taeda.baddbmm(r(4), r(5, 2, 3), r(5, 3, 4)), 2 * 120),
    ("addmv", lambda: taeda.addmv(r(2), r(2, 3), r(3)), 2 * 6),
    ("mv", lambda: taeda.mv(r(2, 3), r(3)), 2 * 6),
    ("dot", lambda: taeda.dot(r(3), r(3)), 2 * 3),
    ("matmul", lambda: r(5, 1, 2, 3) @ r(7, 3, 4), 2 * 5 * 7 * 24),
    ("linear", lambda: F.linear(r(5, 2, 3), r(4, 3), r(4)), 2 * 5 * 2 * 12),
    ("convolution", lambda: F.conv2d(r(2, 4, 8, 8), r(6, 2, 3, 3), groups=2), 2 * (2 * 6 * 36) * (2 * 9)),
    ("convolution", lambda: F.conv_transpose1d(r(2, 4, 8), r(4, 6, 3)), 2 * (2 * 8 * 4) * (6 * 3)),
    ("_fused_attention", lambda: F.scaled_dot_product_attention(r(2, 3, 5, 4), r(2, 3, 7, 4),
        r(2, 3, 7, 6)), 2 * 6 * 35 * 10),
    ("_ragged_attention", lambda: ops._ragged_attention(r(3, 5, 4), r(3, 7, 4), r(3, 7, 6), [0, 2, 5],
        [0, 6, 7], False, 1.0), 2 * 3 * 15 * 10),
]  # fmt: skip


@pytest.mark.parametrize(("name", "program", "wanted"), PRODUCTS, ids=[p[0] for p in PRODUCTS])
def test_forwards(name, program, wanted):
    counter = counted(program)
    assert counter.get_flop_counts() == {"Global": {getattr(ops, name): wanted}}
    assert counter.get_total_flops() == wanted


BACKWARD = [
    (lambda: r(2, 3) @ r(3, 4), 2),  # as much again for each of the two gradients
    (lambda: F.linear(r(5, 2, 3), r(4, 3)), 2),
    (lambda: F.conv2d(r(2, 4, 8, 8), r(6, 2, 3, 3), groups=2), 2),
    (lambda: F.conv2d(taeda.zeros(2, 4, 8, 8), r(6, 4, 3, 3)), 1),
    (lambda: F.conv_transpose2d(r(2, 4, 8, 8), r(4, 6, 3, 3)), 2),
    (
        lambda: F.scaled_dot_product_attention(r(2, 3, 5, 4), r(2, 3, 7, 4), r(2, 3, 7, 4)),
        2.5,
    ),  # and the scores again
    (
        lambda: ops._ragged_attention(
            r(3, 5, 4), r(3, 7, 4), r(3, 7, 4), [0, 2, 5], [0, 6, 7], False, 1.0
        )[0],
        2.5,
    ),
]


@pytest.mark.parametrize(("program", "times"), BACKWARD)
def test_backwards(program, times):
    forward = counted(program).get_total_flops()
    assert counted(lambda: program().sum().backward()).get_total_flops() == forward * (1 + times)


@pytest.mark.parametrize(("kind", "gates"), [(nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1)])
def test_recurrent_layers(kind, gates):
    model, x = kind(3, 5), taeda.zeros(7, 2, 3)
    forward = 2 * 7 * 2 * gates * (3 * 5 + 5 * 5)
    assert counted(lambda: model(x)).get_total_flops() == forward
    counts = counted(lambda: model(x)[0].sum().backward()).get_flop_counts()["Global"]
    backward = (
        sum(n for op, n in counts.items() if op not in (ops._lstm, ops._gru, ops._rnn))
        - 2 * 7 * 2 * gates * 15
    )
    assert backward >= 2 * 7 * 2 * gates * (25 + 25)


def test_every_formula_has_been_used_here():
    used = {name for name, _, _ in PRODUCTS}
    used |= {"convolution_backward", "_fused_attention_backward", "_ragged_attention_backward"}
    used |= {f"_{kind}{way}" for kind in ("lstm", "gru", "rnn") for way in ("", "_backward")}
    assert {str(packet) for packet in FORMULAS if str(packet).startswith("aten.")} == {
        f"aten.{n}" for n in used
    }
