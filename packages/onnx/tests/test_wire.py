"""The bytes of protobuf: those that its encoding page shows."""

import pytest

from taeda.onnx import _wire as wire


@pytest.mark.parametrize(
    ("number", "hexadecimal"),
    [(0, "00"), (1, "01"), (127, "7f"), (128, "8001"), (150, "9601"), (-2, "feffffffffffffffff01")],
)
def test_integers_are_varints(number, hexadecimal):
    assert wire.varint(number).hex() == hexadecimal


def test_fields_have_their_number_and_their_kind():
    assert b"".join(wire.integer(1, 150)).hex() == "089601"
    assert b"".join(wire.text(2, "testing")).hex() == "120774657374696e67"
    assert b"".join(wire.message(3, wire.integer(1, 150))).hex() == "1a03089601"
    assert b"".join(wire.packed_integers(6, [3, 270, 86942])).hex() == "3206038e029ea705"
    assert b"".join(wire.floating(2, 1.0)).hex() == "150000803f"
