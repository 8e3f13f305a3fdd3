"""The array API standard: the same expressions under numpy 2, which follows it, and under
`taeda.array_api`.
"""

import inspect

import pytest
from array_api_cases import check, elsewhere

import taeda
from taeda import array_api


@pytest.mark.parametrize(("dtype", "text"), elsewhere())
@pytest.mark.filterwarnings("ignore")
def test_same_as_numpy(dtype, text):
    check(dtype, text)


def test_every_name_of_the_standard_is_there():
    names = set(NAMES.split())
    assert names - set(dir(array_api)) == set()
    assert set(array_api.__all__) >= names - {"Device", "Dtype"}
    for name in names:
        value = getattr(array_api, name)
        if inspect.isfunction(value):
            assert value.__doc__, name
            inspect.signature(value)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("xp.squeeze(x, axis=0)", ValueError), ("xp.expand_dims(x, axis=7)", IndexError),
        ("xp.sum(x, axis=5)", IndexError),
        ("xp.isdtype(x.dtype, 'fast')", ValueError), ("xp.astype(x * 1j, xp.float32)", TypeError),
        ("xp.matmul(x, x[0, 0])", ValueError),
        ("xp.nonzero(x[0, 0])", ValueError), ("xp.reshape(x.T, (6,), copy=False)", ValueError),
        ("xp.cumulative_sum(x)", ValueError),
        ("xp.take(x, x)", ValueError), ("xp.result_type(1)", ValueError),
        ("xp.matrix_transpose(x[0])", ValueError),
    ],
)  # fmt: skip
def test_refusals(call, error):
    with pytest.raises(error):
        eval(call, {"xp": array_api, "x": taeda.ones(2, 3)})


def test_an_unknown_device_type_lists_those_there_are():
    with pytest.raises(
        RuntimeError,
        match=r"^Expected one of cpu, meta, cuda, .* device type at start of device string: quick$",
    ):
        taeda.device("quick")
    with pytest.raises(RuntimeError, match="must not be empty"):
        taeda.device("")


def test_nan_is_a_value_of_its_own_each_time():
    x = taeda.tensor([float("nan"), 1.0, float("nan")])
    assert array_api.unique_counts(x).counts.tolist() == [1, 1, 1]
    assert sorted(array_api.unique_all(x).indices.tolist()) == [0, 1, 2]


def test_gradients_pass_through():
    x = taeda.ones(2, 3, requires_grad=True)
    array_api.sum(array_api.multiply(array_api.permute_dims(x, (1, 0)), 2.0)).backward()
    assert x.grad.tolist() == [[2, 2, 2], [2, 2, 2]]


NAMES = """
__array_api_version__ __array_namespace_info__ abs acos acosh add all any arange argmax argmin
argsort asarray asin asinh astype atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
bitwise_or bitwise_right_shift bitwise_xor bool broadcast_arrays broadcast_to can_cast ceil clip
complex128 complex64 concat conj copysign cos cosh count_nonzero cumulative_prod cumulative_sum
diff divide e empty empty_like equal exp expand_dims expm1 eye finfo flip float32 float64 floor
floor_divide from_dlpack full full_like greater greater_equal hypot iinfo imag inf int16 int32
int64 int8 isdtype isfinite isinf isnan less less_equal linspace log log10 log1p log2 logaddexp
logical_and logical_not logical_or logical_xor matmul matrix_transpose max maximum mean meshgrid
min minimum moveaxis multiply nan negative newaxis nextafter nonzero not_equal ones ones_like
permute_dims pi positive pow prod real reciprocal remainder repeat reshape result_type roll
round searchsorted sign signbit sin sinh sort sqrt square squeeze stack std subtract sum take
take_along_axis tan tanh tensordot tile tril triu trunc uint16 uint32 uint64 uint8 unique_all
unique_counts unique_inverse unique_values unstack var vecdot where zeros zeros_like fft linalg
"""
