"""What notebooks show of a tensor: true numbers, a picture that decodes, and no markup from outside."""

import base64
import re
import struct
import zlib

import pytest

import taeda


def pixels(page):
    """The rows of the PNG on a page."""
    data = base64.b64decode(re.search(r"base64,([^\"]+)", page)[1])
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, found = 8, {}
    while at < len(data):
        (size,) = struct.unpack(">I", data[at : at + 4])
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        assert struct.unpack(">I", data[at + 8 + size : at + 12 + size])[0] == zlib.crc32(
            kind + body
        )
        found[kind] = body
        at += 12 + size
    width, height = struct.unpack(">2I", found[b"IHDR"][:8])
    raw = zlib.decompress(found[b"IDAT"])
    step = len(raw) // height
    return width, [list(raw[i * step + 1 : (i + 1) * step]) for i in range(height)]


def test_statistics_are_those_of_the_finite_elements():
    page = taeda.tensor([1.0, 3.0, float("nan"), float("inf")])._repr_html_()
    assert "min 1, mean 2, max 3, std 1.414, nan 1, inf 1" in page
    assert "Tensor · [4] · float32 · cpu" in page and "<img" not in page


def test_few_values_are_shown_and_many_drawn():
    few, many = taeda.arange(32.0)._repr_html_(), taeda.arange(33.0)._repr_html_()
    assert "<details open>" in few and "<svg" not in few
    assert "<details>" in many and "<svg" in many


def test_pictures():
    x = taeda.zeros(8, 10)
    x[2, 3] = 1
    width, rows = pixels(x._repr_html_())
    assert width == 10 and len(rows) == 8
    assert rows[2][3] == 255 and sum(map(sum, rows)) == 255
    colours = (taeda.arange(3 * 8 * 8).reshape(3, 8, 8) % 256).to(taeda.uint8)
    _, rows = pixels(colours._repr_html_())
    assert rows[0][:3] == colours[:, 0, 0].tolist()
    _, rows = pixels(colours.permute(1, 2, 0)._repr_html_())
    assert rows[7][-3:] == colours[:, 7, 7].tolist()
    assert "<img" not in taeda.zeros(7, 50)._repr_html_()


def test_what_is_long_and_thin_is_no_picture():
    for sizes, drawn in (((80, 10), True), ((81, 10), False), ((8, 64), True), ((8, 65), False)):
        assert ("<img" in taeda.zeros(sizes)._repr_html_()) is drawn, sizes


@pytest.mark.parametrize(
    "x",
    [
        taeda.ones(()), taeda.empty(0, 3), taeda.ones(2, 2, dtype=taeda.bool),
        taeda.ones(3, dtype=taeda.complex64),
        taeda.empty(4, device="meta"), taeda.full((9, 9), float("nan")), taeda.arange(5),
        taeda.ones(9, 9, dtype=taeda.bfloat16),
        taeda.full((9, 9), 1e300, dtype=taeda.float64),
    ],
)  # fmt: skip
def test_every_kind_of_tensor_has_a_page(x):
    page = x._repr_html_()
    assert page.count("<div") == page.count("</div>")
    assert str(list(x.shape)) in page


def test_names_of_classes_are_text():
    kind = type("<script>", (taeda.Tensor,), {})
    assert "<script>" not in taeda.ones(2).as_subclass(kind)._repr_html_()
