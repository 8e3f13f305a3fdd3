"""Verification in onnxruntime: what is right, what is not, and where."""

from __future__ import annotations

import pytest
from program_models import CASES

import taeda
from taeda import nn, onnx
from taeda.onnx import ops
from taeda.onnx import verification as v

pytest.importorskip("onnxruntime", reason="onnxruntime is the other side")


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        y = self.linear(x).relu()
        y.add_(1)
        return y.exp().abs() + x.view(-1)[0], y.sum()


def wrong_abs(opset=18):
    onnx.register_custom_op_symbolic("aten::abs", lambda g, x: g.op("Neg", x), opset)


def right_abs(opset=18):
    onnx.unregister_custom_op_symbolic("aten::abs", opset)


def test_every_value_is_compared():
    made = onnx.export(Several().eval(), (taeda.randn(3, 4),), verify=False)
    found = v.verify_onnx_program(made, compare_intermediates=True)
    assert len(found) > 5
    assert all(info.max_abs_diff < 1e-5 for info in found)
    assert [info.name for info in found[-2:]] == [p.name for p in made.model.outputs]
    assert len(v.verify_onnx_program(made, (taeda.randn(3, 4),))) == 2


@pytest.mark.parametrize("backend", [v.OnnxBackend.ONNX_RUNTIME_CPU, v.OnnxBackend.REFERENCE])
def test_a_module_is_verified_by_several_calls(backend):
    options = v.VerificationOptions(backend=backend, rtol=1e-3, atol=1e-5)
    case = CASES["mlp"]
    model = case.make().eval()
    v.verify(
        model,
        case.given(2),
        input_names=["x"],
        dynamic_axes={"x": [0]},
        additional_test_inputs=[case.given(5)],
        options=options,
        use_external_data=True,
    )


def test_what_differs_is_an_assertion():
    wrong_abs()
    try:
        with pytest.raises(AssertionError, match="differs in"):
            v.verify(Several().eval(), (taeda.randn(3, 4),))
    finally:
        right_abs()


def test_the_operator_that_is_wrong_is_found(tmp_path, capsys):
    wrong_abs()
    try:
        found = v.find_mismatch(Several().eval(), (taeda.randn(3, 4),), verbose=True)
        (leaf,) = found.all_mismatch_leaf_graph_info()
        assert leaf.essential_node_kinds() == {"aten.abs.default"}
        assert found.find_partition(leaf.id) is leaf
        assert leaf.id in capsys.readouterr().out
        case = v.OnnxTestCaseRepro(leaf.export_repro(str(tmp_path)))
        with pytest.raises(AssertionError, match="differs"):
            case.validate(v.VerificationOptions())
        error, graph, made = v.verify_aten_graph(leaf.graph, leaf.input_args, {}, leaf.params_dict)
        assert error is not None and graph is leaf.graph and made.model.nodes[0].kind == "Neg"
    finally:
        right_abs()
    assert not v.find_mismatch(Several().eval(), (taeda.randn(3, 4),)).has_mismatch()


@pytest.mark.parametrize("given", [
    {}, {"softcap": 2.0}, {"is_causal": True}, {"attn_mask": 1},
    {"attn_mask": 1, "softcap": 2.0, "qk_matmul_output_mode": 1},
    {"attn_mask": 1, "softcap": 2.0, "qk_matmul_output_mode": 2},
    {"past": True, "is_causal": True, "qk_matmul_output_mode": 3, "scale": 0.3},
])  # fmt: skip
def test_attention_is_that_of_onnxruntime(given):
    given = dict(given)
    q, k = taeda.randn(2, 4, 5, 8), taeda.randn(2, 2, 5, 8)
    if given.pop("past", False):
        given |= {"past_key": k, "past_value": k}
    if "attn_mask" in given:
        given["attn_mask"] = taeda.randn(5, 5)
    same(lambda q, k: ops.attention(q, k, k, **given), q, k)


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("turned", [0, 4])
def test_rotary_embedding_is_that_of_onnxruntime(interleaved, turned):
    x, places = taeda.randn(2, 4, 5, 8), taeda.arange(10).view(2, 5) % 7
    cos, sin = taeda.randn(7, (turned or 8) // 2), taeda.randn(7, (turned or 8) // 2)
    options = {"interleaved": interleaved, "rotary_embedding_dim": turned}
    same(lambda x: ops.rotary_embedding(x, cos, sin, places, **options), x)


def same(f, *args):
    class Made(nn.Module):
        def forward(self, *args):
            return f(*args)

    made = onnx.export(Made().eval(), args, opset_version=23, verify=False)
    assert all(i.max_abs_diff < 1e-5 for i in v.verify_onnx_program(made))
