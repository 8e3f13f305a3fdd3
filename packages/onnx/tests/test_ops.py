"""Operators of ONNX as functions of a program."""

import math

import pytest

import taeda
import taeda.nn.functional as F
from taeda import nn, onnx
from taeda.export import Dim
from taeda.onnx import ops


def exported(f, *args, **options):
    class Made(nn.Module):
        def forward(self, *args):
            return f(*args)

    return onnx.export(Made().eval(), args, verify=False, **options).model


def test_an_operator_by_its_name_is_in_the_model():
    def f(x):
        made = ops.symbolic(
            "mine::Op",
            (x, None, x),
            {"k": 1, "w": [1.0, 2.0], "s": "text"},
            dtype=x.dtype,
            shape=(x.shape[0], 3),
            version=2,
            metadata_props={"from": "test"},
        )
        return made + 1

    assert f(taeda.ones(4, 2)).tolist() == [[1.0] * 3] * 4
    made = exported(f, taeda.ones(4, 2), dynamic_shapes=({0: Dim("n")},))
    node = made.nodes[0]
    assert (node.domain, node.kind, node.inputs[1]) == ("mine", "Op", "")
    assert node.attributes == {"k": 1, "w": [1.0, 2.0], "s": "text"}
    assert node.props == {"from": "test"} and made.domains == {"mine": 2}
    assert b"from" in b"".join(made.pieces())
    assert made.outputs[0].sizes == ["n", 3]


def test_an_operator_of_several_results():
    def f(x):
        return ops.symbolic_multi_out("Two", (x,), dtypes=[taeda.int64, 1], shapes=[(2,), x.shape])

    a, b = f(taeda.ones(3))
    assert (a.dtype, a.shape, b.dtype, b.shape) == (taeda.int64, (2,), taeda.float32, (3,))
    made = exported(f, taeda.ones(3))
    assert (made.nodes[0].kind, len(made.nodes[0].outputs)) == ("Two", 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ops.symbolic("a::b::", (x,), dtype=1, shape=(2,)),
        lambda x: ops.symbolic("::Op", (x,), dtype=1, shape=(2,)),
        lambda x: ops.symbolic("Op", (x,), {"k": object()}, dtype=1, shape=(2,)),
        lambda x: ops.symbolic("Op", (x,), {"k": [1, "a"]}, dtype=1, shape=(2,)),
        lambda x: ops.symbolic("Op", (x,), dtype=99, shape=(2,)),
        lambda x: ops.symbolic_multi_out("Op", (x,), dtypes=[1], shapes=[]),
        lambda x: ops.attention(x, x, x),
        lambda x: ops.attention(x[None, None], x[None, None], x[None]),
        lambda x: ops.attention(*[x[None, None]] * 3, qk_matmul_output_mode=4),
        lambda x: ops.attention(*[x[None, None]] * 3, softmax_precision=77),
        lambda x: ops.rotary_embedding(x, x, x),
        lambda x: ops.rotary_embedding(x[None], x, x),
    ],
)
def test_what_is_no_operator_is_refused(call):
    with pytest.raises(ValueError):
        call(taeda.ones(2, 2))


def test_a_newer_version_than_the_models_is_refused():
    with pytest.raises(onnx.errors.SymbolicValueError, match="opset 24"):
        exported(lambda x: ops.symbolic("Op", (x,), dtype=1, shape=(2,), version=24), taeda.ones(2))


def test_two_versions_of_a_domain_are_refused():
    def f(x):
        y = ops.symbolic("mine::A", (x,), dtype=1, shape=(2,), version=1)
        return ops.symbolic("mine::B", (y,), dtype=1, shape=(2,), version=2)

    with pytest.raises(onnx.OnnxExporterError, match="versions 1 and 2"):
        exported(f, taeda.ones(2))


def test_attention_is_that_of_here():
    q, k = taeda.randn(2, 4, 3, 8), taeda.randn(2, 2, 5, 8)
    made = ops.attention(q, k, k)[0]
    wanted = F.scaled_dot_product_attention(q, k, k, enable_gqa=True)
    taeda.testing.assert_close(made, wanted)
    flat = ops.attention(
        *(t.transpose(1, 2).flatten(2) for t in (q, k, k)), q_num_heads=4, kv_num_heads=2
    )[0]
    taeda.testing.assert_close(flat, made.transpose(1, 2).flatten(2))
    masked = taeda.zeros(3, 5, dtype=taeda.bool)
    assert ops.attention(q, k, k, masked)[0].abs().sum() == 0
    y, keys, values, _ = ops.attention(q, k, k, past_key=k, past_value=k, is_causal=True)
    assert keys.shape == values.shape == (2, 2, 10, 8)
    before = F.scaled_dot_product_attention(
        q, keys, values, taeda.ones(3, 10, dtype=taeda.bool).tril(5), enable_gqa=True
    )
    taeda.testing.assert_close(y, before)


def test_a_quarter_of_a_turn():
    x = taeda.tensor([1.0, 2.0, 3.0, 4.0]).view(1, 1, 1, 4)
    zero, one = taeda.zeros(1, 1, 2), taeda.ones(1, 1, 2)
    assert ops.rotary_embedding(x, zero, one).flatten().tolist() == [-3, -4, 1, 2]
    assert ops.rotary_embedding(x, zero, one, interleaved=True).flatten().tolist() == [-2, 1, -4, 3]
    angle = taeda.tensor([[0.0], [math.pi / 2]])
    turned = ops.rotary_embedding(
        x, angle.cos(), angle.sin(), taeda.ones(1, 1, dtype=taeda.int64), rotary_embedding_dim=2
    )
    taeda.testing.assert_close(turned.flatten(), taeda.tensor([-2.0, 1.0, 3.0, 4.0]))


def test_both_are_one_operator_from_opset_23_on():
    x, c = taeda.ones(1, 2, 3, 4), taeda.ones(1, 3, 2)
    for f, kind in (
        (lambda v: ops.attention(v, v, v)[0], "Attention"),
        (lambda v: ops.rotary_embedding(v, c, c), "RotaryEmbedding"),
    ):
        assert exported(f, x, opset_version=23).nodes[0].kind == kind
        with pytest.raises(onnx.errors.SymbolicValueError, match="23"):
            exported(f, x, opset_version=22)
