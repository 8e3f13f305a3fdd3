"""`taeda.ops.quantized`: what its operators refuse, and where they are found."""

import pytest

import taeda

ops = taeda.ops.quantized


def numbers(*size, dtype=taeda.quint8):
    return taeda.quantize_per_tensor(taeda.rand(*size), 0.1, 3, dtype)


def test_they_are_found_by_name_and_by_overload():
    assert "conv2d_prepack" in dir(ops)
    x = numbers(3)
    assert taeda.equal(ops.add(x, x, 0.2, 0), ops.add.default(x, x, 0.2, 0))
    with pytest.raises(AttributeError, match="'quantized' object has no attribute 'nothing'"):
        _ = ops.nothing


def test_own_operators_of_that_namespace_go_first():
    library = taeda.library.Library("quantized", "FRAGMENT")
    library.define("halved(Tensor x) -> Tensor")
    library.impl("halved", lambda x: x / 2, "CompositeExplicitAutograd")
    assert ops.halved(taeda.ones(1)).item() == 0.5


LINEAR = ops.linear_prepack(numbers(4, 3, dtype=taeda.qint8))
CONV = ops.conv2d_prepack(numbers(4, 3, 2, 2, dtype=taeda.qint8), None, [1, 1], [0, 0], [1, 1], 1)


def grouped(groups):
    weight = numbers(4, 3, 2, dtype=taeda.qint8)
    packed = ops.conv1d_prepack(weight, None, [1], [0], [1], groups)
    return ops.conv1d(numbers(1, 3 * max(groups, 1), 5), packed, 0.1, 0)


def turned(groups):
    weight = numbers(4, 3, 2, dtype=taeda.qint8)
    packed = ops.conv_transpose1d_prepack(weight, None, [1], [0], [0], [1], groups)
    return ops.conv_transpose1d(numbers(1, 4, 5), packed, 0.1, 0)


WRONG = [
    (TypeError, lambda x: ops.add(x, None, 0.1, 0)),
    (TypeError, lambda x: ops.add(x, x)),
    (TypeError, lambda x: ops.mul_scalar(x, "2")),
    (TypeError, lambda x: ops.linear(x, x, 0.1, 0)),
    (TypeError, lambda x: ops.linear(x, CONV, 0.1, 0)),
    (TypeError, lambda x: ops.conv2d(x, LINEAR, 0.1, 0)),
    (TypeError, lambda x: ops.conv2d(x, CONV, 0.1)),
    (RuntimeError, lambda x: ops.conv1d(x, CONV, 0.1, 0)),
    (RuntimeError, lambda x: ops.conv_transpose2d(x, CONV, 0.1, 0)),
    (RuntimeError, lambda x: ops.conv2d(x, CONV, 0.1, 0)),
    (RuntimeError, lambda x: ops.linear(numbers(2, 5), LINEAR, 0.1, 0)),
    (RuntimeError, lambda x: ops.linear_prepack(x)),
    (TypeError, lambda x: ops.linear_prepack(None)),
    (RuntimeError, lambda x: ops.conv2d_prepack(numbers(4, 3, dtype=taeda.qint8), None, [1], [0], [1], 1)),
    (RuntimeError, lambda x: ops.cat([], 0, 0.1, 0)),
    (RuntimeError, lambda x: grouped(0)),
    (RuntimeError, lambda x: grouped(3)),
    (RuntimeError, lambda x: grouped(-1)),
    (RuntimeError, lambda x: turned(0)),
    (RuntimeError, lambda x: turned(3)),
    (NotImplementedError, lambda x: ops.sigmoid(taeda.ones(2), 0.1, 0)),
    (NotImplementedError, lambda x: ops.clamp(taeda.ones(2), 0.0, 1.0)),
]  # fmt: skip


@pytest.mark.parametrize(("error", "call"), WRONG)
def test_wrong_arguments_are_refused_in_words(error, call):
    with pytest.raises(error):
        call(numbers(2, 3))


BIAS = taeda.zeros(3), taeda.ones(3)
SCALED = {
    "add": lambda x, *to: ops.add(x, x, *to),
    "mul": lambda x, *to: ops.mul(x, x, *to),
    "cat": lambda x, *to: ops.cat([x, x], 0, *to),
    "matmul": lambda x, *to: ops.matmul(x, x.t(), *to),
    "linear": lambda x, *to: ops.linear(x, LINEAR, *to),
    "conv2d": lambda x, *to: ops.conv2d(x.reshape(1, 3, 2, 1).expand(1, 3, 2, 2), CONV, *to),
    "batch_norm": lambda x, *to: ops.batch_norm1d(x, None, None, *BIAS, 1e-5, *to),
    "layer_norm": lambda x, *to: ops.layer_norm(x, [3], None, None, 1e-5, *to),
    "softmax": lambda x, *to: ops.softmax(x, 1, *to),
    "elu": lambda x, *to: ops.elu(x, *to),
}


@pytest.mark.parametrize("name", SCALED)
def test_no_tensor_is_made_that_nothing_can_read(name):
    x = numbers(2, 3)
    SCALED[name](x, 0.1, 2).dequantize()
    ranges = [(0.0, 0), (-1.0, 0), (float("nan"), 0), (float("inf"), 0), (1e-60, 0), (1e60, 0)]
    for scale, zero in [*ranges, (0.1, 256), (0.1, -1), (0.1, 2**40)]:
        with pytest.raises(RuntimeError, match=r"scale|zero_point"):
            SCALED[name](x, scale, zero)
