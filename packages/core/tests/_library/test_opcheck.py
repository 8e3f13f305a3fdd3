"""What opcheck finds."""

from __future__ import annotations

import pytest

import taeda
from taeda import Tensor, library

Library, custom_op = library.Library, library.custom_op


@pytest.fixture
def double():
    @custom_op("tlib::double", mutates_args=())
    def double(x: Tensor, times: float = 2.0) -> Tensor:
        """Twice x, or as often."""
        return x * times

    return double


def test_opcheck_finds_shared_memory():
    library.define("tl7::view", "(Tensor x) -> Tensor")
    library.impl("tl7::view", "default", lambda x: x.view(-1))
    found = library.opcheck("tl7::view", (taeda.ones(2, 2),), raise_exception=False)
    assert "result 0 shares memory with argument x" in str(found["test_schema"])
    library.define("tl7::declared", "(Tensor(a) x) -> Tensor(a)")
    library.impl("tl7::declared", "default", lambda x: x.view(-1))
    assert set(library.opcheck("tl7::declared", (taeda.ones(2, 2),)).values()) == {"SUCCESS"}


@pytest.mark.parametrize(
    ("fake", "message"),
    [
        (None, "no fake impl registered"),
        (lambda x: x.new_empty(3, 3), "shape"),
        (lambda x: x.new_empty(2, 3, dtype=taeda.int32), "dtype"),
        (lambda x: x.new_empty(3, 2).t(), "strides"),
        (lambda x: x.new_empty(2, 3, 1), "number of dimensions"),
    ],
)
def test_opcheck_finds_fake_kernels_that_differ(fake, message):
    @custom_op("tlib::faked", mutates_args=())
    def faked(x: Tensor) -> Tensor:
        return x.clone()

    if fake is not None:
        faked.register_fake(fake)
    with pytest.raises(Exception, match=f"test_faketensor failed: .*{message}"):
        library.opcheck(faked, (taeda.ones(2, 3),), test_utils="test_faketensor")


def test_opcheck_finds_results_that_change():
    count = iter(range(100))

    @custom_op("tlib::counts", mutates_args=())
    def counts(x: Tensor) -> Tensor:
        return x + next(count)

    counts.register_fake(lambda x: taeda.empty_like(x))
    found = library.opcheck(counts, (taeda.ones(2),), raise_exception=False)
    assert isinstance(found["test_aot_dispatch_dynamic"], AssertionError)
    found = library.opcheck(counts, (taeda.ones(2),), atol=5, rtol=0, raise_exception=False)
    assert set(found.values()) == {"SUCCESS"}


def test_opcheck_takes_what_it_documents(double):
    with pytest.raises(ValueError, match="are none of test_schema"):
        library.opcheck(double, (taeda.ones(1),), test_utils="odd")
    with pytest.raises(ValueError, match="both or neither"):
        library.opcheck(double, (taeda.ones(1),), rtol=1.0)
    with pytest.raises(ValueError, match="wanted a CustomOpDef"):
        library.opcheck(len, ())
    for op in (double, taeda.ops.tlib.double, taeda.ops.tlib.double.default, "tlib::double"):
        assert library.opcheck(op, (taeda.ones(1),), {"times": 3}, test_utils="test_schema") == {
            "test_schema": "SUCCESS"
        }
    assert set(library.opcheck(taeda.ops.aten.add, (taeda.ones(2), taeda.ones(2))).values()) == {
        "SUCCESS"
    }
