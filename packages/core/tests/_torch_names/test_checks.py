"""Checks that programs write for those who trace them."""

import pytest

import taeda

KINDS = {
    "_check": RuntimeError, "_check_index": IndexError, "_check_value": ValueError,
    "_check_type": TypeError, "_check_not_implemented": NotImplementedError,
}  # fmt: skip


@pytest.mark.parametrize("name", KINDS)
def test_each_raises_its_error(name):
    check = getattr(taeda, name)
    asked = []
    check(True, lambda: asked.append(1))
    assert not asked
    with pytest.raises(KINDS[name], match="no: 3"):
        check(False, lambda: f"no: {3}")
    with pytest.raises(KINDS[name], match="Expected cond to be True"):
        check(False)
    with pytest.raises(TypeError, match="message must be a callable, but got str"):
        check(False, "text")


def test_any_error():
    with pytest.raises(LookupError, match="gone"):
        taeda._check_with(LookupError, False, lambda: "gone")


def test_conditions_are_bools():
    for cond in (1, taeda.tensor(True)):
        with pytest.raises(TypeError, match="cond must be a bool"):
            taeda._check(cond)


def test_sizes():
    taeda._check_is_size(0)
    taeda._check_is_size(3, max=3)
    for size, most in ((-1, None), (4, 3)):
        with pytest.raises(RuntimeError, match="a size"):
            taeda._check_is_size(size, lambda: "a size", max=most)


def test_all_elements():
    taeda._check_tensor_all(taeda.tensor([True, True]))
    taeda._check_tensor_all(taeda.ones(0, dtype=taeda.bool))
    with pytest.raises(RuntimeError, match="some"):
        taeda._check_tensor_all(taeda.tensor([True, False]), lambda: "some")
    with pytest.raises(TypeError, match=r"dtype taeda\.bool, but got taeda\.float32"):
        taeda._check_tensor_all(taeda.ones(2))
    with pytest.raises(TypeError, match="must be a tensor"):
        taeda._check_tensor_all(True)
