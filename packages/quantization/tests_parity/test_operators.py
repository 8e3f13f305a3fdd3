"""`taeda.ops.quantized` beside torch's operators: the same integers, scales and zero points."""

from __future__ import annotations

import numpy as np
import pytest

import taeda

torch = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore:torch.quantize_per_tensor:UserWarning")


def drawn(*size, seed=0):
    return np.random.default_rng(seed).standard_normal(size).astype("float32")


def tensors(lib):
    """By name what the calls below take."""

    def q(x, scale=0.05, zero=100, dtype="quint8"):
        return lib.quantize_per_tensor(lib.as_tensor(x), scale, zero, getattr(lib, dtype))

    def w(*size):
        return q(drawn(*size, seed=9), 0.02, 0, "qint8")

    rows = lib.quantize_per_channel(
        lib.as_tensor(drawn(6, 32, seed=5)),
        lib.full((6,), 0.03),
        lib.zeros(6, dtype=lib.int64),
        0,
        lib.qint8,
    )
    return {
        "a": q(drawn(4, 32)), "b": q(drawn(4, 32, seed=1), 0.04, 90), "x1": q(drawn(2, 8, 64)),
        "x2": q(drawn(2, 8, 16, 16)), "x3": q(drawn(1, 4, 4, 8, 8)), "w": rows, "w1": w(6, 8, 3),
        "w2": w(6, 8, 3, 3), "w3": w(6, 4, 2, 2, 2), "t1": w(8, 6, 3), "t2": w(8, 6, 3, 3),
        "bias": lib.as_tensor(drawn(6, seed=3)), "eight": lib.as_tensor(drawn(8, seed=4)),
        "var": lib.as_tensor(np.abs(drawn(8, seed=6))), "float": lib.as_tensor(drawn(4, 32, seed=7)),
        "table": lib.as_tensor(drawn(32, seed=8)),
    }  # fmt: skip


CALLS = {
    "add": lambda o, t: o.add(t["a"], t["b"], 0.1, 110),
    "add by a number": lambda o, t: o.add(t["a"], 1.5),
    "a number add": lambda o, t: o.add(1.5, t["a"]),
    "add_relu": lambda o, t: o.add_relu(t["a"], t["b"], 0.1, 110),
    "add_scalar": lambda o, t: o.add_scalar(t["a"], 0.7),
    "add_scalar_relu": lambda o, t: o.add_scalar_relu(t["a"], 0.7),
    "mul": lambda o, t: o.mul(t["a"], t["b"], 0.1, 110),
    "mul_relu": lambda o, t: o.mul_relu(t["a"], t["b"], 0.1, 110),
    "mul_scalar": lambda o, t: o.mul_scalar(t["a"], -0.7),
    "mul_scalar_relu": lambda o, t: o.mul_scalar_relu(t["a"], 0.7),
    "cat": lambda o, t: o.cat([t["a"], t["b"]], 0, 0.06, 95),
    "cat, scale of the first": lambda o, t: o.cat([t["a"], t["b"]], 1, None, None),
    "cat_relu": lambda o, t: o.cat_relu([t["a"], t["b"]], 0, 0.06, 95),
    "matmul": lambda o, t: o.matmul(t["a"], t["b"].t().contiguous(), 0.2, 120),
    "linear": lambda o, t: o.linear(t["a"], o.linear_prepack(t["w"], t["bias"]), 0.1, 110),
    "linear_relu": lambda o, t: o.linear_relu(t["a"], o.linear_prepack(t["w"]), 0.1, 110),
    "linear_dynamic": lambda o, t: o.linear_dynamic(
        t["float"], o.linear_prepack(t["w"], t["bias"]), True
    ),
    "linear_relu_dynamic": lambda o, t: o.linear_relu_dynamic(
        t["float"], o.linear_prepack(t["w"], t["bias"]), True
    ),
    "linear_unpack": lambda o, t: o.linear_unpack(o.linear_prepack(t["w"], t["bias"]))[0],
    "conv1d": lambda o, t: o.conv1d(
        t["x1"], o.conv1d_prepack(t["w1"], t["bias"], [1], [1], [1], 1), 0.2, 120
    ),
    "conv1d_relu": lambda o, t: o.conv1d_relu(
        t["x1"], o.conv1d_prepack(t["w1"], None, [2], [0], [1], 1), 0.2, 120
    ),
    "conv2d": lambda o, t: o.conv2d(
        t["x2"], o.conv2d_prepack(t["w2"], t["bias"], [2, 1], [1, 1], [1, 1], 1), 0.2, 120
    ),
    "conv2d, all arguments": lambda o, t: o.conv2d(
        t["x2"],
        o.conv2d_prepack(t["w2"], t["bias"], [2, 1], [1, 1], [1, 1], 1),
        [2, 1],
        [1, 1],
        [1, 1],
        1,
        0.2,
        120,
    ),
    "conv2d_relu": lambda o, t: o.conv2d_relu(
        t["x2"], o.conv2d_prepack(t["w2"], None, [1, 1], [0, 1], [1, 2], 1), 0.217, 120
    ),
    "conv2d_unpack": lambda o, t: o.conv2d_unpack(
        o.conv2d_prepack(t["w2"], None, [1, 1], [0, 1], [1, 2], 1)
    )[0],
    "conv3d": lambda o, t: o.conv3d(
        t["x3"], o.conv3d_prepack(t["w3"], t["bias"], [1, 1, 1], [0, 0, 0], [1, 1, 1], 1), 0.2, 120
    ),
    "conv_transpose1d": lambda o, t: o.conv_transpose1d(
        t["x1"], o.conv_transpose1d_prepack(t["t1"], t["bias"], [2], [1], [1], [1], 1), 0.2, 120
    ),
    "conv_transpose2d": lambda o, t: o.conv_transpose2d(
        t["x2"],
        o.conv_transpose2d_prepack(t["t2"], None, [1, 2], [1, 1], [0, 1], [1, 1], 1),
        0.2,
        120,
    ),
    "batch_norm2d": lambda o, t: o.batch_norm2d(
        t["x2"], t["var"], t["eight"], t["eight"], t["var"], 1e-5, 0.1, 110
    ),
    "batch_norm2d_relu": lambda o, t: o.batch_norm2d_relu(
        t["x2"], t["eight"], t["eight"], t["eight"], t["var"], 1e-5, 0.1, 110
    ),
    "layer_norm": lambda o, t: o.layer_norm(t["a"], [32], t["table"], None, 1e-5, 0.05, 110),
    "instance_norm": lambda o, t: o.instance_norm(t["x2"], t["eight"], t["eight"], 1e-5, 0.05, 110),
    "group_norm": lambda o, t: o.group_norm(t["x2"], 2, t["eight"], t["eight"], 1e-5, 0.05, 110),
    "sigmoid": lambda o, t: o.sigmoid(t["x2"], 0.01, 3),
    "hardswish": lambda o, t: o.hardswish(t["x2"], 0.05, 20),
    "elu": lambda o, t: o.elu(t["x2"], 0.05, 60, 1.5),
    "celu": lambda o, t: o.celu(t["x2"], 0.05, 60, 1.5),
    "leaky_relu": lambda o, t: o.leaky_relu(t["x2"], 0.2, False, 0.04, 60),
    "max_pool2d": lambda o, t: o.max_pool2d(t["x2"], [3, 3], [2, 2], [1, 1], [1, 1], False),
    "threshold": lambda o, t: o.threshold(t["x2"], 0.3, 0.1),
    "relu6": lambda o, t: o.relu6(t["x2"]),
    "clamp": lambda o, t: o.clamp(t["x2"], -0.5, 0.9),
}


@pytest.mark.parametrize("name", CALLS)
def test_integers_are_equal(name):
    wanted = CALLS[name](torch.ops.quantized, tensors(torch))
    made = CALLS[name](taeda.ops.quantized, tensors(taeda))
    if not wanted.is_quantized:
        assert np.allclose(made.numpy(), wanted.numpy(), rtol=1e-6, atol=1e-6)
        return
    assert made.shape == wanted.shape
    assert np.array_equal(made.int_repr().numpy(), wanted.int_repr().numpy())
    if wanted.qscheme() is torch.per_tensor_affine:
        assert (made.q_scale(), made.q_zero_point()) == (wanted.q_scale(), wanted.q_zero_point())
