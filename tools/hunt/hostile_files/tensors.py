"""Tensors whose numbers are not true, and every maker with arguments that it is not meant for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from .words import call, glob, pt, storage, tensor, tup

__all__ = ["files"]

COUNTS = (
    5,
    7,
    0,
    -1,
    -(2**63),
    2**31,
    2**60,
    2**61,
    2**62,
    2**63 - 1,
    2**64,
    None,
    "6",
    6.0,
    True,
    (),
    [],
)
SHAPES = {
    "negative": ((-2, -3), (3, 1)),
    "one negative": ((2, -3), (3, 1)),
    "one too many": ((2, 4), (3, 1)),
    "huge": ((2**40, 2**40), (1, 1)),
    "product overflows": ((2**32, 2**32, 2**32), (0, 0, 0)),
    "product is 2^63": ((2**21, 2**21, 2**21), (0, 0, 0)),
    "beyond 64 bits": ((2**64, 1), (1, 1)),
    "negative stride": ((2, 3), (-3, 1)),
    "stride outside": ((2, 3), (4, 1)),
    "stride overflows": ((2, 3), (2**62, 2**62)),
    "stride wraps round": ((3,), (2**63,)),
    "fewer strides": ((2, 3), (1,)),
    "more strides": ((2,), (1, 1, 1)),
    "65 dimensions": ((1,) * 65, (1,) * 65),
    "10^5 dimensions": ((1,) * 100_000, (1,) * 100_000),
    "floats": ((2.0, 3.0), (3, 1)),
    "texts": (("2", "3"), (3, 1)),
    "bools": ((True, True), (3, 1)),
    "None": (None, (3, 1)),
    "an int": (6, 1),
    "a dict": ({}, {}),
    "nested": (((2,), 3), (3, 1)),
}
OFFSETS = (-1, 1, 6, 2**31, 2**60, 2**62, 2**63 - 1, 2**64, -(2**63), None, "0", 0.0, True, ())
KEYS = (
    "1",
    "",
    "../0",
    "../../../etc/passwd",
    "/etc/passwd",
    "0/../0",
    "0\x00",
    "a" * 5000,
    0,
    None,
    ("0",),
    "data.pkl",
)
PLACES = (None, 0, "", "cuda:0", "cuda:99999", "mps", "a" * 5000, "../cpu", "cpu; rm -rf", ("cpu",))
TYPES = (
    "torch QInt8Storage",
    "torch QUInt4x2Storage",
    "torch float32",
    "torch Size",
    "collections OrderedDict",
    "torch ObjectStorage",
    "torch BoolStorage",
    "torch DoubleStorage",
)
ARGUMENTS: dict[str, tuple[Any, ...]] = {
    "nothing": (),
    "None": (None,),
    "numbers": (1, 2, 3),
    "texts": ("a", "b"),
    "a list": ([1, [2], {"a": 3}],),
    "a tensor": (tensor(),),
    "tensors": (tensor(), tensor(), tensor()),
    "a storage": (storage(),),
    "a name": (glob("collections OrderedDict"),),
    "twenty": tuple(range(20)),
    "almost right": (storage(), 0, (2, 3), (3, 1), "no", None),
    "a dict": ({"a": 1, 2: None},),
    "huge numbers": (2**64, -(2**64), 10**300),
}
MAKERS = """torch._utils _rebuild_tensor|torch._utils _rebuild_tensor_v2
torch._utils _rebuild_tensor_v3|torch._utils _rebuild_parameter
torch._utils _rebuild_parameter_with_state|torch._utils _rebuild_meta_tensor_no_storage
torch._utils _rebuild_device_tensor_from_numpy|torch._utils _rebuild_device_tensor_from_cpu_tensor
torch._tensor _rebuild_from_type_v2|torch._utils _rebuild_sparse_tensor
torch._utils _rebuild_qtensor|torch._utils _rebuild_nested_tensor
torch._utils _rebuild_wrapper_subclass|torch.nn.parameter Parameter|torch Size|torch device
torch.serialization _get_layout|torch Tensor|torch FloatStorage|torch float32
collections OrderedDict|collections Counter|collections defaultdict|builtins set
builtins frozenset|builtins complex|builtins bytes|builtins bytearray|builtins list|builtins dict
builtins int|_codecs encode|numpy dtype|numpy ndarray|numpy._core.multiarray scalar
numpy._core.multiarray _reconstruct|numpy._core.numeric _frombuffer"""
RIGHT = {  # what a maker is meant for
    ("torch._utils _rebuild_parameter", "a tensor"),
    ("torch.nn.parameter Parameter", "a tensor"),
    ("collections OrderedDict", "nothing"),
    ("collections Counter", "nothing"),
    ("collections Counter", "a dict"),
    ("collections defaultdict", "nothing"),
    ("collections defaultdict", "None"),
    ("builtins set", "nothing"),
    ("builtins frozenset", "nothing"),
    ("builtins bytes", "nothing"),
    ("builtins bytearray", "nothing"),
}
ATTRIBUTES = (
    "__class__",
    "__dict__",
    "__setstate__",
    "data",
    "grad",
    "backward",
    "requires_grad",
    "shape",
    "no name",
    "",
    5,
    None,
)
V3 = "torch._utils _rebuild_tensor_v3"


def files() -> Iterator[tuple[str, bytes]]:
    for count in COUNTS:
        yield f"a storage of 6 said to have {count!r}", pt(tensor(storage(count=count)))
    for name, (size, stride) in SHAPES.items():
        yield f"shape: {name}", pt(tensor(None, 0, size, stride))
    for offset in OFFSETS:
        yield f"offset {offset!r}", pt(tensor(None, offset))
    for key in KEYS:
        yield f"key {key!r:.40}", pt(tensor(storage(key=key)))
    for place in PLACES:
        yield f"location {place!r:.40}", pt(tensor(storage(place=place)))
    for kind in TYPES:
        yield f"storage of {kind}", pt(tensor(storage(kind)))
    yield from marks()
    yield from untyped()
    yield from identities()
    yield from attributes()
    for maker, (name, arguments) in itertools.product(
        MAKERS.replace("\n", "|").split("|"), ARGUMENTS.items()
    ):
        if (maker, name) not in RIGHT:
            yield f"{maker} of {name}", pt(call(maker, *arguments))
    yield from arrays()


def marks() -> Iterator[tuple[str, bytes]]:
    hook = call("collections OrderedDict") + tup(1, 2) + b"Ns"
    yield (
        "a hook",
        pt(call("torch._utils _rebuild_tensor_v2", storage(), 0, (2, 3), (3, 1), False, hook)),
    )
    for grad in (None, 1, "yes", ()):
        yield f"requires_grad is {grad!r}", pt(tensor(None, 0, (2, 3), (3, 1), grad))
    yield (
        "integers with a gradient",
        pt(tensor(storage("torch IntStorage"), 0, (2, 3), (3, 1), True)),
    )
    for extra in ({"x": 1}, {"conj": True, "__class__": 1}, 5, "conj", [1]):
        yield f"marks {extra!r}", pt(tensor(None, 0, (2, 3), (3, 1), False, extra))
    yield "too many values", pt(tensor(None, 0, (2, 3), (3, 1), False, {}, None, None))


def untyped() -> Iterator[tuple[str, bytes]]:
    bytes_ = storage("torch.storage UntypedStorage", count=24)
    for dtype in (
        b"N",
        b"K\x01",
        glob("torch Size"),
        glob("torch float64"),
        glob("torch complex128"),
    ):
        made = call(V3, bytes_, 0, (2, 3), (3, 1), False, None, dtype)
        yield f"dtype {dtype!r:.30} over six floats", pt(made)
    yield "an untyped storage for v2", pt(tensor(bytes_))
    yield (
        "a typed storage for v3",
        pt(call(V3, storage(), 0, (2, 3), (3, 1), False, None, glob("torch float32"))),
    )
    yield (
        "more elements than bytes",
        pt(call(V3, bytes_, 0, (25,), (1,), False, None, glob("torch uint8"))),
    )


def identities() -> Iterator[tuple[str, bytes]]:
    for name, identity in {
        "a text": "storage",
        "a number": 5,
        "nothing": (),
        "a module": ("module", "a", "b", "c"),
        "another word": ("weights", glob("torch FloatStorage"), "0", "cpu", 6),
        "four values": ("storage", glob("torch FloatStorage"), "0", "cpu"),
        "seven values": ("storage", glob("torch FloatStorage"), "0", "cpu", 6, None, None),
        "a list": ["storage", "a", "0", "cpu", 6],
    }.items():
        words = tup(*identity) if isinstance(identity, tuple) else None
        yield f"identity: {name}", pt((words if words is not None else _word(identity)) + b"Q")
    yield "identity in a line", pt(b"Pstorage\n")
    yield (
        "an identity inside another",
        pt(tup(tup("storage", glob("torch FloatStorage"), storage(), "cpu", 6) + b"Q")),
    )
    two = tup(tensor(), tensor(storage("torch IntStorage", count=5)))
    yield "one storage in two ways", pt(two)


def _word(value: Any) -> bytes:
    from .words import word

    return word(value)


def attributes() -> Iterator[tuple[str, bytes]]:
    maker, kind = glob("torch._utils _rebuild_tensor_v2"), glob("torch Tensor")
    arguments = (storage(), 0, (2, 3), (3, 1), False, None)
    for name in ATTRIBUTES:
        state = b"}" + _word(name) + b"Ns"
        yield (
            f"attribute {name!r}",
            pt(call("torch._tensor _rebuild_from_type_v2", maker, kind, arguments, state)),
        )
        yield f"attribute {name!r} by BUILD", pt(tensor() + state + b"b")
        yield f"attribute {name!r} of a dict", pt(call("collections OrderedDict") + state + b"b")
    for state in (5, "x", [1], (1, 2, 3, 4)):
        yield (
            f"state {state!r}",
            pt(call("torch._tensor _rebuild_from_type_v2", maker, kind, arguments, state)),
        )


def arrays() -> Iterator[tuple[str, bytes]]:
    def dtype(code: Any, order: Any = "<", *rest: Any) -> bytes:
        state = rest or (3, order, None, None, None, -1, -1, 0)
        return call("numpy dtype", code, False, True) + tup(*state) + b"b"

    data = call("_codecs encode", "\x00" * 8, "latin1")
    for code in ("O", "O8", "V8", "U2", "S8", "M8", "f16", "i4,f4", "os", "", "f4" * 5000, 5, None):
        yield (
            f"numpy scalar of {code!r:.20}",
            pt(call("numpy._core.multiarray scalar", dtype(code), data)),
        )
    yield "numpy scalar too long", pt(call("numpy._core.multiarray scalar", dtype("f4"), data))
    yield (
        "numpy dtype with fields",
        pt(
            call(
                "numpy._core.multiarray scalar",
                dtype("f8", "<", 3, "<", None, (), {}, -1, -1, 0),
                data,
            )
        ),
    )
    yield "numpy dtype alone", pt(dtype("f8"))
    empty = call(
        "numpy._core.multiarray _reconstruct",
        glob("numpy ndarray"),
        (0,),
        call("_codecs encode", "b", "latin1"),
    )
    for shape in ((2,), (-1,), (2**62, 2**62), (2**64,), "a", (1,) * 65, (0, 2**63)):
        state = tup(1, shape, dtype("f8"), False, data)
        yield f"numpy array of shape {shape!r:.30}", pt(empty + state + b"b")
    yield "numpy array of objects", pt(empty + tup(1, (1,), dtype("O"), False, [1]) + b"b")
    yield "numpy array of a list", pt(empty + tup(1, (1,), dtype("f8"), False, [1]) + b"b")
    yield (
        "numpy array of another class",
        pt(call("numpy._core.multiarray _reconstruct", glob("torch Tensor"), (0,), data)),
    )
    yield (
        "numpy array that begins with ten",
        pt(call("numpy._core.multiarray _reconstruct", glob("numpy ndarray"), (10,), data)),
    )
    for order in ("K", "A", 5, "__class__"):
        yield (
            f"numpy array in the order {order!r}",
            pt(call("numpy._core.numeric _frombuffer", data, dtype("f8"), (1,), order)),
        )
