"""Types of scripts: an object for each, whose text is the annotation."""

from taeda._torch_names.private_types import TYPES


def test_each_type_has_one_object():
    for name, kind in TYPES.items():
        assert kind.get() is kind.get() and kind.get().kind() == name
        assert str(kind.get()) == kind.annotation_str
    assert str(TYPES["TensorType"].get()) == "Tensor"
    assert len({id(kind.get()) for kind in TYPES.values()}) == len(TYPES)
