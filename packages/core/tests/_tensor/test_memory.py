"""The storage below a tensor: other sizes, other storages, orders of dimensions."""

from __future__ import annotations

import pytest

import taeda


def test_resize_keeps_the_elements_in_storage_order():
    x = taeda.arange(6.0)
    assert x.resize_(2, 2) is x
    assert x.tolist() == [[0, 1], [2, 3]]
    assert x.resize_((3, 2)).tolist() == [[0, 1], [2, 3], [4, 5]]
    assert x.resize_as_(taeda.empty(5)).tolist() == [0, 1, 2, 3, 4]
    assert x.untyped_storage().nbytes() == 24
    assert x.resize_(100)[:6].tolist() == [0, 1, 2, 3, 4, 5]
    assert x.untyped_storage().nbytes() == 400


def test_set_takes_a_tensor_a_storage_or_nothing():
    base, x = taeda.arange(12.0), taeda.ones(3)
    assert x.set_(base) is x and x.data_ptr() == base.data_ptr() and x.shape == (12,)
    x.set_(base.untyped_storage(), 2, (2, 3), (1, 2))
    assert x.tolist() == [[2, 4, 6], [3, 5, 7]]
    x.set_(base.storage(), 1, (2, 5))
    assert x.stride() == (5, 1) and x.tolist() == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]
    x.set_(base.untyped_storage())
    assert x.tolist() == base.tolist()
    x.set_(base, 3, (2, 0, 4))
    assert x.stride() == (4, 4, 1)
    assert x.set_().shape == (0,) and x.dtype is taeda.float32


def test_set_refuses_another_dtype():
    with pytest.raises(RuntimeError, match=r"type taeda\.int64 to a tensor of type taeda\.float32"):
        taeda.ones(2).set_(taeda.ones(2, dtype=taeda.int64))


def test_dim_order_is_that_of_the_strides():
    x = taeda.empty(2, 3, 4, 5)
    assert x.dim_order() == (0, 1, 2, 3)
    assert x.to(memory_format=taeda.channels_last).dim_order() == (0, 2, 3, 1)
    assert x.permute(3, 1, 0, 2).dim_order() == (2, 1, 3, 0)


def test_storages_have_the_type_of_their_elements():
    x = taeda.ones(3, dtype=taeda.int16)
    assert x.storage().dtype is taeda.int16 and x.storage().size() == 3
    assert x.storage_type() is taeda.ShortStorage
    assert x.const_data_ptr() == x.data_ptr() == x.untyped_storage().data_ptr()


def test_sharing_moves_views_along():
    x = taeda.arange(4.0)
    view = x[2:]
    assert not x.is_shared()
    assert x.share_memory_() is x
    x[2] = 9.0
    assert x.is_shared() and view.is_shared() and view.tolist() == [9, 3]


def test_memory_is_not_pinned_without_an_accelerator():
    assert taeda.ones(2).is_pinned() is False
    with pytest.raises(RuntimeError, match="Leave it out on the CPU"):
        taeda.ones(2).pin_memory()


def test_every_tensor_is_dense():
    x = taeda.ones(2, 3)
    assert (x.dense_dim(), x.sparse_dim()) == (2, 0)
    assert x.to_dense() is x
    assert x.to_dense(taeda.float64).dtype is taeda.float64


@pytest.fixture
def deterministic():
    taeda.use_deterministic_algorithms(True)
    yield
    taeda.use_deterministic_algorithms(False)


@pytest.mark.parametrize("shape", [(1, 3, 2, 5), (2, 1, 4, 4), (1, 2, 3, 4, 5)])
def test_resizing_to_a_format(shape):
    last = taeda.channels_last if len(shape) == 4 else taeda.channels_last_3d
    wanted = taeda.empty(shape, memory_format=last)
    assert taeda.zeros(2).resize_(shape, memory_format=last).stride() == wanted.stride()
    assert taeda.zeros(2).resize_(shape).stride() == taeda.empty(shape).stride()
    as_it = taeda.zeros(2).resize_as_(wanted, memory_format=taeda.preserve_format)
    assert as_it.stride() == wanted.stride()
    assert taeda.zeros(2).resize_as_(wanted).stride() == taeda.empty(shape).stride()
    with pytest.raises(RuntimeError, match="preserve_format"):
        taeda.zeros(2).resize_(shape, memory_format=taeda.preserve_format)
    with pytest.raises(RuntimeError, match="rank"):
        taeda.zeros(2).resize_(3, memory_format=last)


def test_what_is_grown_is_filled_where_that_was_asked_for(deterministic):
    assert str(taeda.zeros(2).resize_(4).tolist()) == "[0.0, 0.0, nan, nan]"
    most = taeda.iinfo(taeda.int32).max
    assert taeda.zeros(1, dtype=taeda.int32).resize_(3).tolist() == [0, most, most]
    assert taeda.zeros(6)[:2].resize_(4).tolist() == [0.0] * 4
    assert str(taeda.zeros(4)[2:].resize_(4).tolist()) == "[0.0, 0.0, nan, nan]"
    taeda.utils.deterministic.fill_uninitialized_memory = False
    try:
        taeda.zeros(2).resize_(4)
    finally:
        taeda.utils.deterministic.fill_uninitialized_memory = True


@pytest.mark.parametrize("dtype", [taeda.int32, taeda.float64, taeda.uint8, taeda.bool])
def test_a_storage_of_another_dtype_is_refused(dtype):
    storage = taeda.zeros(8, dtype=dtype).storage()
    for arguments in ((storage,), (storage, 0, (1,))):
        with pytest.raises(RuntimeError, match=r"expected a storage of taeda\.float32"):
            taeda.empty(0).set_(*arguments)
    assert taeda.empty(0).set_(storage.untyped()).dtype is taeda.float32
    assert taeda.empty(0, dtype=dtype).set_(storage).shape == (8,)


def test_pages_are_locked_for_cuda_devices_alone():
    x = taeda.ones(2)
    assert not x.is_pinned()
    assert not x.is_pinned("cpu")
    with pytest.raises(RuntimeError, match="not for 'cpu'"):
        x.pin_memory("cpu")
    for call in (x.is_pinned, x.pin_memory):
        with pytest.raises(RuntimeError):
            call("nowhere")


def test_orders_of_dimensions_that_are_not_the_only_ones():
    plain = taeda.empty(2, 3, 4)
    assert plain.dim_order(ambiguity_check=True) == (0, 1, 2)
    one = taeda.empty(1, 2, 3, 4)
    formats = [taeda.contiguous_format, taeda.channels_last]
    assert one.dim_order(ambiguity_check=formats) == (0, 1, 2, 3)
    both = taeda.empty(1, 1, 3, 4)
    for tensor, check in (
        (one, True),
        (plain.expand(2, 2, 3, 4), True),
        (both, formats),
        (one[..., ::2], formats),
    ):
        with pytest.raises(RuntimeError, match="does not have unique dim order"):
            tensor.dim_order(ambiguity_check=check)
