"""The gate of layouts: no row meets a tensor without memory, unless the layout has a rule for it."""

from __future__ import annotations

import pytest
from samples import ROWS, samples

import taeda
from taeda import Tensor
from taeda._native import core

LAYOUT = taeda.jagged  # nobody brings rules for it
RULES = core.layout_rules(LAYOUT, False)
IN_PLACE = core.layout_rules(LAYOUT, True)


def like(x: Tensor) -> Tensor:
    """A tensor of the layout that claims shape and dtype of `x`, and is made of it."""
    return core.make_layout(LAYOUT, tuple(x.shape), x.dtype, x.device, x)


@pytest.fixture
def rules():
    yield RULES, IN_PLACE
    RULES.clear()
    IN_PLACE.clear()


class _Pick:
    def __init__(self, number: int) -> None:
        self.number, self.count = number, 0

    def __call__(self, x: Tensor) -> Tensor:
        self.count += 1
        return like(x) if self.count - 1 == self.number else x


def _calls(row: str):
    """Calls with each tensor in turn of the layout."""
    for dtype in ("float32", "int64"):
        for sample in samples(row, dtype):
            counted = _Pick(-1)
            sample.map(counted)
            yield from (sample.map(_Pick(k)) for k in range(counted.count))


def _made(call) -> object:
    try:
        return call.call()
    except (RuntimeError, TypeError, ValueError, IndexError, AttributeError, BufferError) as error:
        return error


@pytest.mark.parametrize("row", sorted(ROWS))
def test_every_row_is_refused(row):
    for call in _calls(row):
        made = _made(call)
        assert isinstance(made, BaseException), (str(call), made)


def test_most_rows_are_reached():
    """A sentence of the gate, and not another refusal before it."""
    reached = {
        row
        for row in ROWS
        if any("for a tensor of layout taeda.jagged" in str(_made(call)) for call in _calls(row))
    }
    assert len(reached) > 0.9 * len(ROWS)


def test_a_rule_gets_the_arguments_of_the_schema(rules):
    seen = []
    RULES["add.Tensor"] = lambda *args: seen.append(args) or taeda.ones(2)
    x = like(taeda.ones(2))
    assert (x + 1).tolist() == [1.0, 1.0]
    assert taeda.add(x, x, alpha=2).tolist() == [1.0, 1.0]
    assert [(a is x, b if type(b) is int else b is x, alpha) for a, b, alpha in seen] == [
        (True, 1, 1),
        (True, True, 2),
    ]


def test_rules_in_place_are_others(rules):
    RULES["mul.Tensor"] = lambda *args: taeda.ones(2)
    x = like(taeda.ones(2))
    with pytest.raises(NotImplementedError, match=r"mul_: .*taeda\.jagged.*Use mul, or"):
        x.mul_(2)
    IN_PLACE["mul.Tensor"] = lambda self, other: self
    assert x.mul_(2) is x


def test_a_rule_may_decline(rules):
    RULES["abs"] = lambda x: NotImplemented
    with pytest.raises(NotImplementedError, match="abs: there is no kernel"):
        taeda.abs(like(taeda.ones(2)))


def test_errors_of_a_rule_arrive(rules):
    RULES["abs"] = lambda x: 1 / 0
    with pytest.raises(ZeroDivisionError):
        like(taeda.ones(2)).abs()


def test_results_are_not_written_into_given_tensors(rules):
    RULES["abs"] = lambda x: taeda.ones(2)
    with pytest.raises(NotImplementedError, match="abs: out= is not supported"):
        taeda.abs(like(taeda.ones(2)), out=taeda.ones(2))
    with pytest.raises(NotImplementedError, match="abs: out= is not supported"):
        taeda.abs(taeda.ones(2), out=like(taeda.ones(2)))


def test_what_is_asked_of_memory_is_refused():
    x = like(taeda.ones(2, 3))
    for ask in (
        x.stride, lambda: x.stride(0), x.storage_offset, x.data_ptr, x.tolist, x.untyped_storage,
        lambda: x.resize_(3), lambda: x.set_(taeda.ones(2)), lambda: taeda.ones(2).set_(x),
        x.share_memory_, lambda: memoryview(x), lambda: x.numpy(), lambda: x.__dlpack__(),
        lambda: setattr(x, "data", taeda.ones(2, 3)),
        lambda: setattr(taeda.ones(2, 3), "data", x),
        lambda: core.call_backend("abs", (x,)), lambda: x.as_subclass(type("Own", (Tensor,), {})),
        lambda: core.on_storage(x, taeda.float32, (1,), (1,), 0),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, BufferError, TypeError)):
            ask()
    assert not x.is_contiguous()


def test_facts():
    x = like(taeda.ones(2, 3, dtype=taeda.float64))
    assert type(x) is Tensor and x.layout is LAYOUT and x.device.type == "cpu"
    assert (x.shape, x.dtype, x.dim(), x.numel()) == ((2, 3), taeda.float64, 2, 6)
    assert core.parts_of(x).shape == (2, 3) and core.parts_of(taeda.ones(1)) is None


def test_parts_are_exchanged():
    x, y = like(taeda.ones(2)), like(taeda.zeros(2))
    parts = core.parts_of(y)
    x.data = y
    assert core.parts_of(x) is parts
    core.set_parts(x, None)
    assert core.parts_of(x) is None and x._version == 1
    with pytest.raises(TypeError, match="wanted a tensor with parts"):
        core.set_parts(taeda.ones(2), None)


def test_swapped():
    x, y = like(taeda.ones(2)), taeda.zeros(2)
    parts = core.parts_of(x)
    taeda.utils.swap_tensors(x, y)
    assert x.layout is taeda.strided and x.tolist() == [0.0, 0.0]
    assert y.layout is LAYOUT and core.parts_of(y) is parts


def test_bad_claims():
    for arguments in (
        (taeda.strided, (1,), taeda.float32, "cpu", None),
        (LAYOUT, (1,), "float32", "cpu", None),
        (LAYOUT, ("a",), taeda.float32, "cpu", None),
        (LAYOUT, (1,) * 65, taeda.float32, "cpu", None),
        (LAYOUT, (1 << 40, 1 << 40), taeda.float32, "cpu", None),
        (LAYOUT, (-1,), taeda.float32, "cpu", None),
    ):
        with pytest.raises((ValueError, TypeError, RuntimeError)):
            core.make_layout(*arguments)
    with pytest.raises(ValueError, match="a layout with rules"):
        core.layout_rules(taeda.strided, False)
