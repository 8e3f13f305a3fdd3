"""What libraries take from `torch._utils`."""

import pytest

import taeda
from taeda._torch_names import private_utils as utils

PARTS = [
    taeda.arange(6.0).reshape(2, 3),
    taeda.tensor(7.0),
    taeda.zeros(0, 2),
    taeda.ones(3, 2).t(),
]


def test_many_as_one_and_back():
    flat = utils.flatten(PARTS)
    assert flat.tolist() == [0, 1, 2, 3, 4, 5, 7, *[1.0] * 6]
    back = utils.unflatten(flat, PARTS)
    assert all(taeda.equal(a, b) for a, b in zip(back, PARTS, strict=True))
    back[1].fill_(-1)
    assert flat[6] == -1  # views


def test_a_single_one_lends_its_memory():
    assert utils.flatten(PARTS[:1]).data_ptr() == PARTS[0].data_ptr()
    with pytest.raises(ValueError, match="non-empty"):
        utils.flatten([])


def test_lists_below_a_size_and_the_order_of_others():
    mixed = [
        taeda.full((2,), float(k), dtype=d)
        for k, d in enumerate((taeda.float32, taeda.float64, taeda.float32, taeda.float32))
    ]
    lists = list(utils.take(mixed, 16))
    assert [[t[0].item() for t in part] for part in lists] == [[0, 2], [3], [1]]
    assert [len(part) for part in utils.take(mixed, 1)] == [1, 1, 1, 1]
    joined = [t for part in lists for t in part]
    assert [t[0].item() for t in utils.reorder(joined, mixed)] == [0, 1, 2, 3]


def test_devices():
    assert utils.device_index("cuda:1") == utils.device_index(1) == 1
    assert utils.device_index("cpu", allow_cpu=True) == -1
    assert utils.device_index(None, optional=True) is None
    for lacking in ("cpu", "cuda", None):
        with pytest.raises(ValueError, match="with an index"):
            utils.device_index(lacking)
    assert utils.device_module("cpu") is taeda.cpu
    with pytest.raises(RuntimeError, match="'toaster' does not have a corresponding module"):
        utils.device_module("toaster")
    assert utils.device_type() == (
        taeda.accelerator.current_accelerator().type if taeda.accelerator.is_available() else None
    )


def test_properties_of_a_class():
    class Named:
        @utils.classproperty
        def name(cls):
            return cls.__name__.lower()

    assert Named.name == Named().name == "named"
    assert utils.element_size(taeda.float64) == 8
