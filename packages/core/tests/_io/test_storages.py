"""Which bytes are written: those that tensors show, once, and no others."""

from __future__ import annotations

import io

import pytest

import taeda
from taeda._io.tree import decode

SECRET = 0x5EC2E7


def stored(value):
    file = io.BytesIO()
    taeda.save(value, file)
    return file.getvalue()


def loaded(data):
    return taeda.load(io.BytesIO(data))


def secret(count=600):
    return taeda.full((count,), SECRET, dtype=taeda.int32)


VIEWS = {
    "a slice": lambda x: [x[100:110]],
    "every third": lambda x: [x[1::3]],
    "a column": lambda x: [x.reshape(20, 30)[:, 4]],
    "a block": lambda x: [x.reshape(20, 30)[3:8, 4:9]],
    "two ends": lambda x: [x[:3], x[-3:]],
    "two columns": lambda x: [x.reshape(20, 30)[:, 4], x.reshape(20, 30)[:, 6]],
    "a repeated one": lambda x: [x[7:8].expand(50)],
    "a transposed block": lambda x: [x.reshape(20, 30)[3:8, 4:9].t()],
    "other dtypes": lambda x: [x.view(taeda.uint8)[40:44], x.view(taeda.int16)[30:31]],
    "nothing": lambda x: [x[3:3]],
}


@pytest.mark.parametrize("make", VIEWS.values(), ids=VIEWS)
def test_bytes_that_no_tensor_shows_are_not_written(make):
    whole = secret()
    views = make(whole)
    for number, view in enumerate(views):
        view.fill_(number + 1)
    data = stored(views)
    assert SECRET.to_bytes(4, "little") not in data
    for made, view in zip(loaded(data), views, strict=True):
        assert made.tolist() == view.tolist()


def test_sizes_follow_what_is_shown():
    big = taeda.zeros(1_000_000)
    empty = len(stored([big[:0]]))
    assert len(stored([big[:10]])) < empty + 200
    assert len(stored([big[:10], big[-10:]])) < empty + 600
    assert len(stored([big.reshape(1000, 1000)[:, 0]])) < empty + 4000 + 200


def test_strides_are_kept_where_that_costs_little():
    x = taeda.arange(24.0).reshape(4, 6)
    for view in (x.t(), x[:, ::2], x[::2], x.t()[1:], x.expand(3, 4, 6)):
        made = loaded(stored(view))
        assert made.stride() == view.stride()
        assert made.tolist() == view.tolist()


def test_a_sparse_view_becomes_dense_in_the_order_of_its_axes():
    view = taeda.arange(10_000.0).reshape(10, 10, 100)[:, :, 0].t()
    made = loaded(stored(view))
    assert made.stride() == (1, 10)
    assert made.tolist() == view.tolist()


def test_tensors_that_touch_share_a_storage_again():
    flat = taeda.arange(12.0)
    made = loaded(stored([flat[:5], flat[5:]]))
    assert made[0].untyped_storage() == made[1].untyped_storage()
    assert made[1].storage_offset() == 5


def test_tensors_that_overlap_share_memory_again():
    base = taeda.arange(20.0)
    made = loaded(stored([base[0:10], base[5:15].reshape(2, 5).t(), base[100:]]))
    made[0][6] = 99.0
    assert made[1][1, 0].item() == 99.0


def test_windows_that_overlap_are_written_once():
    windows = taeda.arange(1000.0).unfold(0, 100, 1)
    data = stored(windows)
    assert len(data) < 6000
    assert taeda.equal(loaded(data), windows)


def test_an_expanded_scalar_of_huge_shape_is_small():
    huge = taeda.ones(1).expand(1 << 20, 1 << 20)
    made = loaded(stored(huge))
    assert made.shape == huge.shape
    assert made.stride() == (0, 0)


def test_attributes_of_tensors_are_kept():
    x = taeda.ones(2)
    x.tag, x.partner = "encoder", taeda.zeros(1)
    made = loaded(stored([x]))[0]
    assert made.tag == "encoder"
    assert made.partner.tolist() == [0.0]


def test_an_attribute_that_would_hide_a_method_is_refused():
    x = taeda.ones(2)
    x.tags = "y"
    data = stored(x).replace(b'\\"tags\\"', b'\\"item\\"')
    with pytest.raises(RuntimeError, match="damaged"):
        loaded(data)
    with pytest.raises(RuntimeError, match="attribute 'item'"):
        decode({"tensor": 0, "attributes": [["item", 3]]}, [x])


def test_conjugate_and_negative_bits():
    z = taeda.tensor([1 + 2j, 3 - 4j])
    made = loaded(stored({"z": z, "conj": z.conj(), "neg": z.conj().imag}))
    assert made["conj"].is_conj()
    assert made["neg"].is_neg()
    assert made["neg"].tolist() == [-2.0, 4.0]
    made["z"].fill_(5 + 6j)
    assert made["neg"].tolist() == [-6.0, -6.0]
    assert made["conj"].tolist() == [5 - 6j, 5 - 6j]


def test_a_view_of_a_mapped_file_is_written_again(tmp_path):
    taeda.save(taeda.arange(10), tmp_path / "a")
    mapped = taeda.load(tmp_path / "a", mmap=True)
    taeda.save(mapped[2:4], tmp_path / "a")
    assert taeda.load(tmp_path / "a").tolist() == [2, 3]
    assert mapped.tolist() == list(range(10))
