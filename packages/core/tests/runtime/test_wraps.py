"""Sizes and strides at the ends of 64 bits, without memory behind them: a right answer or a
refusal, and defined arithmetic.

The sanitized build sees what overflows; the ordinary one sees values and crashes.
`tools/hunt/extremes.py` does it for every operator.
"""

from __future__ import annotations

import pytest

import taeda

FAR = 2**62


def far(dtype=taeda.float32):
    """No elements, and strides whose products leave 64 bits."""
    return taeda.empty(0, 5, dtype=dtype).as_strided((0, 5), (FAR, FAR))


def distant():
    """Two rows on meta that lie 2^60 elements apart."""
    return taeda.empty_strided((2, 3), (2**60, 1), device="meta")


VIEWS = {
    "index": (lambda x: x[:, 3], (0,)),
    "slice": (lambda x: x[:, 2::2], (0, 2)),
    "new axis": (lambda x: x[:, None], (0, 1, 5)),
    "select": (lambda x: x.select(1, 4), (0,)),
    "narrow": (lambda x: x.narrow(1, 3, 2), (0, 2)),
    "unsqueeze": (lambda x: x.unsqueeze(1), (0, 1, 5)),
    "diagonal": (lambda x: x.diagonal(2), (0,)),
    "expand": (lambda x: x.expand(1, 7, 0, 5), (1, 7, 0, 5)),
    "view": (lambda x: x.view(5, 0), (5, 0)),
    "bytes": (lambda x: x.view(taeda.uint8), (0, 20)),
    "numpy": (lambda x: x.numpy(), (0, 5)),
    "memoryview": (memoryview, (0, 5)),
}


@pytest.mark.parametrize("name", VIEWS)
def test_views_of_no_elements_far_apart(name):
    make, shape = VIEWS[name]
    made = make(far()) if name != "bytes" else make(taeda.empty(0, 5).as_strided((0, 5), (FAR, 1)))
    assert tuple(made.shape) == shape
    if isinstance(made, taeda.Tensor):
        assert made.exp().shape == shape and made.tolist() == taeda.empty(shape).tolist()
        assert made.storage_offset() in range(2**59)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: x + x,
        lambda x: x.sum(1),
        lambda x: x.amax(1),
        lambda x: x.softmax(1),
        lambda x: x @ x.mT,
        lambda x: taeda.cat([x, x]),
        lambda x: x.clone().zero_(),
        lambda x: x[taeda.empty(0, dtype=taeda.int64, device=x.device)],
        lambda x: x.sort(1).values,
        lambda x: x.cumsum(1),
    ],
)
def test_operators_take_elements_far_apart(call):
    assert call(far()).shape == call(taeda.empty(0, 5)).shape
    assert call(distant()).device.type == "meta"


def test_batches_of_products_without_terms_reach_nothing():
    a = taeda.empty(0).as_strided((3, 2, 4, 0), (2**61, 2**60, FAR, 1))
    b = taeda.empty(0).as_strided((3, 2, 0, 5), (2**61, 2**60, FAR, 2**59))
    assert (a @ b).equal(taeda.zeros(3, 2, 4, 5))


@pytest.mark.parametrize("shape", [(0, 5), (5, 0), (5, 0, 5), (0, 0)])
def test_strides_without_elements_reach_nothing(shape):
    # One that begins with 5 was refused, one that begins with 0 was not.
    strides = (FAR,) * len(shape)
    x = taeda.ones(3)
    assert x.as_strided(shape, strides).stride() == strides
    assert taeda.empty_strided(shape, strides).sum().item() == 0
    with pytest.raises(RuntimeError, match="out of bounds"):
        x.as_strided((2,) * len(shape), strides)


def test_a_list_of_no_elements_has_no_address():
    assert taeda.empty(3, 0).as_strided((3, 0), (FAR, 1)).tolist() == [[], [], []]


def test_complex_numbers_far_apart_have_parts():
    x = far(taeda.complex64)
    assert x.real.shape == x.imag.shape == (0, 5) and taeda.view_as_real(x).shape == (0, 5, 2)


@pytest.mark.parametrize("size", [2**59, 2**60, 2**61, 2**62])
def test_indices_refuse_more_places_than_offsets_can_be_counted_for(size):
    # Eight bytes for each place were counted in 64 bits, which wrapped to a few, and then all
    # places were written.
    x = taeda.ones(1, 1, dtype=taeda.uint8).expand(1, size)
    with pytest.raises(RuntimeError, match=r"memory|overflowed"):
        x[taeda.tensor([0])]


def test_groups_that_cannot_be_counted_are_refused():
    x, weight = taeda.empty(0, 2, 8), taeda.empty(0, 2**40, 3)
    with pytest.raises(RuntimeError, match="groups"):
        taeda.conv1d(x, weight, groups=2**40)


def test_a_diagonal_that_goes_on_is_filled_at_once():
    x = taeda.empty(1, 2, device="meta").expand(2**41, 2)
    assert x.fill_diagonal_(1.0, wrap=True).shape == (2**41, 2)
    for height, width in ((7, 2), (6, 2), (5, 3), (3, 3), (2, 5), (9, 0), (0, 2)):
        whole = taeda.zeros(height, width).fill_diagonal_(1.0, wrap=True)
        flat = [float(i % (width + 1) == 0) for i in range(height * width)]
        assert whole.flatten().tolist() == flat, (height, width)
