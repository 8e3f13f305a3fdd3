"""The first Tensor interface: typed classes, `new`, type names, the default type."""

import numpy as np
import pytest

import taeda


def test_a_typed_class_makes_tensors_of_its_dtype():
    assert taeda.LongTensor(2, 3).shape == (2, 3)
    assert taeda.LongTensor([[1, 2]]).dtype == taeda.int64
    assert taeda.FloatTensor(np.arange(3.0)).tolist() == [0, 1, 2]
    assert taeda.FloatTensor().shape == (0,)
    assert taeda.ByteTensor(taeda.Size([4])).dtype == taeda.uint8
    x = taeda.zeros(3, dtype=taeda.float64)
    assert taeda.DoubleTensor(x).data_ptr() == x.data_ptr()


def test_a_typed_class_knows_its_tensors():
    x = taeda.zeros(2, dtype=taeda.int16)
    assert isinstance(x, taeda.ShortTensor)
    assert not isinstance(x, taeda.IntTensor)
    assert not isinstance(taeda.zeros(2, device="meta"), taeda.FloatTensor)
    assert repr(taeda.ShortTensor) == "<class 'taeda.ShortTensor'>"


def test_refusals_of_typed_classes():
    with pytest.raises(TypeError, match=r"FloatTensor\(\) wants a tensor of taeda.float32"):
        taeda.FloatTensor(taeda.zeros(2, dtype=taeda.int64))
    with pytest.raises(TypeError, match="sizes or one piece of data"):
        taeda.FloatTensor(2, [1])
    with pytest.raises(RuntimeError, match="negative"):
        taeda.FloatTensor(-1)


def test_new_keeps_dtype_and_device():
    x = taeda.zeros(1, dtype=taeda.int32)
    assert (x.new(2, 3).shape, x.new(2, 3).dtype) == ((2, 3), taeda.int32)
    assert x.new([1, 2]).tolist() == [1, 2]
    assert taeda.zeros(1, device="meta").new(4).device.type == "meta"
    with pytest.raises(TypeError, match="wants sizes"):
        x.new(1, "a")


@pytest.mark.parametrize("kind", [taeda.float64, "taeda.DoubleTensor", taeda.DoubleTensor])
def test_type_takes_dtypes_names_and_classes(kind):
    made = taeda.ones(2).type(kind)
    assert made.type() == "taeda.DoubleTensor"
    with pytest.raises(ValueError, match="invalid type: 'Doubles'"):
        made.type("Doubles")


@pytest.mark.parametrize("kind", ["taeda.DoubleTensor", taeda.DoubleTensor])
def test_default_tensor_type(kind):
    try:
        taeda.set_default_tensor_type(kind)
        assert taeda.ones(1).dtype == taeda.Tensor(2).dtype == taeda.float64
    finally:
        taeda.set_default_tensor_type(taeda.FloatTensor)
    assert taeda.get_default_dtype() == taeda.float32


def test_default_tensor_type_refuses():
    with pytest.raises(TypeError, match="floating-point"):
        taeda.set_default_tensor_type(taeda.LongTensor)
    with pytest.raises(TypeError, match="a class of tensors or its name"):
        taeda.set_default_tensor_type(taeda.float64)


@pytest.mark.skipif(taeda.cuda.is_available(), reason="says what is refused without a device")
def test_types_of_a_device_that_is_not_there():
    kind = taeda.cuda.LongTensor
    assert repr(kind) == "<class 'taeda.cuda.LongTensor'>"
    assert not isinstance(taeda.zeros(1, dtype=taeda.int64), kind)
    for call in (
        kind,
        lambda: kind([1]),
        lambda: taeda.set_default_tensor_type(taeda.cuda.FloatTensor),
    ):
        with pytest.raises(TypeError, match="not available without a CUDA device: use taeda"):
            call()
    for wanted in ("taeda.cuda.FloatTensor", taeda.cuda.FloatTensor):
        with pytest.raises(RuntimeError, match="device 'cuda' is not available"):
            taeda.ones(1).type(wanted)
    with pytest.raises(ValueError, match=r"invalid type: 'taeda\.cuda\.Floats'"):
        taeda.ones(1).type("taeda.cuda.Floats")


@pytest.mark.skipif(not taeda.cuda.is_available(), reason="needs a CUDA device")
def test_types_of_a_device():
    x = taeda.cuda.FloatTensor([1, 2])
    assert x.type() == "taeda.cuda.FloatTensor" and isinstance(x, taeda.cuda.FloatTensor)
    assert not isinstance(x, taeda.FloatTensor)
    assert x.type(taeda.LongTensor).device.type == "cpu"
    assert x.type("taeda.cuda.LongTensor").dtype == taeda.int64


def test_meta_tensors_stay_where_they_are():
    assert taeda.empty(2, device="meta").type(taeda.DoubleTensor).device.type == "meta"


def test_the_class_of_all_tensors_stands_for_the_default_dtype():
    x = taeda.ones(2, dtype=taeda.int32)
    for kind in (taeda.Tensor, "taeda.Tensor", "torch.Tensor"):
        assert x.type(kind).dtype is taeda.float32


@pytest.mark.parametrize("kind", [int, float, bool, "foo", 3])
def test_what_is_no_type_of_tensors_is_refused(kind):
    with pytest.raises(ValueError, match="invalid type"):
        taeda.ones(2).type(kind)


def test_a_storage_is_shared():
    x = taeda.zeros(4)
    for made in (taeda.FloatTensor(x.storage()), taeda.FloatTensor(x.untyped_storage()),
                 x.new(x.storage()), x.new(storage=x.storage())):  # fmt: skip
        assert made.data_ptr() == x.data_ptr() and made.shape == (4,)
    with pytest.raises(RuntimeError, match="expected a storage"):
        taeda.FloatTensor(taeda.IntStorage(4))


def test_new_by_name():
    x = taeda.zeros(2, dtype=taeda.float64)
    assert x.new(size=(2, 3)).shape == x.new(size=[2, 3]).shape == (2, 3)
    assert x.new(data=[1, 2]).dtype is taeda.float64
    assert x.new(other=x).data_ptr() == x.data_ptr()
    for wrong in ({"foo": 1}, {"size": (1,), "data": [1]}):
        with pytest.raises(TypeError, match="wanted sizes, or one of"):
            x.new(**wrong)
