"""An object as a pickle of protocol 2, in the words that torch uses and `torch.load` lets through."""

from __future__ import annotations

import enum
import functools
import math
import struct
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import taeda
from taeda import Tensor
from taeda._native import core as _core

from ..._layers.foreign import OWN
from ..._tensor.qschemes import qscheme
from .. import safetypes
from ..budget import Budget
from ..layouts import MAKERS, facts_of, has_parts, made_of, refuse_names
from ..place import tag_of
from ..steps import DEEPEST, Steps, drive
from ..storages import UNINITIALIZED
from ..tree.encoding import has_state
from .errors import RefusedPickle
from .keys import Keys
from .machine import LONGEST_NAME
from .names import QUANTIZED, STORAGE_OF
from .others import Bare, writer_of

__all__ = ["Emitter"]

#: writes a value; of one with parts it returns the steps to that
Write = Callable[["Emitter", Any], "Steps | None"]
_BATCH = 1000
_LONGEST_INT = 255  # bytes
_MOST_STEPS = 3 * DEEPEST  # a module's fields and a namespace's are no levels of their own
_OPEN = -1  # the height of a container that is not complete
_MODULE_VERSIONS = "_metadata"  # what a module's state_dict() carries beside its entries


class Emitter:
    """Takes one object. Afterwards `pickle` describes it, and `storages` are what it needs besides."""

    def __init__(self, value: Any) -> None:
        self.out = bytearray(b"\x80\x02")
        self.memo: dict[Any, int] = {}
        self.kept: list[Any] = []  # keeps ids from being used again
        self.storages: list[Tensor] = []  # all bytes of each, by its number
        self.numbers: dict[int, int] = {}
        self.path: list[str | int] = []
        self.families = 0  # modules on the way down
        self.height = 0  # of what was written since the container around it began
        self.heights: dict[int, int] = {}  # of each container that is complete
        self.keys = Keys(Budget(1 << 62))
        self.value(value)
        self.pickle = bytes(self.out + b".")

    def value(self, value: Any) -> None:
        """Write a value, with all of its parts."""
        steps = self.part(value)
        if steps is not None:
            drive(steps, self.too_deep(), _MOST_STEPS)

    def part(self, value: Any) -> Steps | None:
        """Write a value; of one with parts the steps to that."""
        write = _WRITERS.get(type(value)) or self.writer(value)
        return write(self, value)

    def parts(self, value: Any) -> Steps:
        """The same, amid steps."""
        if (steps := self.part(value)) is not None:
            yield steps

    def too_deep(self) -> ValueError:
        return ValueError(
            f"cannot save {self.place()}: nested too deeply, more than {DEEPEST} levels"
        )

    def place(self) -> str:
        shown = ".".join(map(str, self.path[:100]))[:200]
        return f"the object at '{shown}'" if self.path else "the object"

    def writer(self, value: Any) -> Write:
        """How a value is written whose type is derived from one that is known."""
        if isinstance(value, Tensor):
            return Emitter.tensor
        if write := writer_of(value):
            return write
        for kind in (float, int, str, bytes):
            if isinstance(value, kind) and not safetypes.name_of(type(value)):
                return lambda self, v: self.value(kind(v))
        if isinstance(value, taeda.layout):
            return lambda self, v: self.call(
                "torch.serialization", "_get_layout", str(v).replace("taeda", "torch")
            )
        if isinstance(value, taeda.dtype):
            return lambda self, v: self.name("torch", str(v).rpartition(".")[2])
        if write := self.of_class(value):
            return write
        name = f"{type(value).__module__}.{type(value).__qualname__}"
        advice = "save tensors, numbers, texts, and lists, tuples, sets and dicts of them"
        if hasattr(value, "state_dict"):
            advice = "save its state_dict()"
        raise TypeError(
            f"cannot save {self.place()}, a {name}, in the form of .pt files: they hold data, not code; "
            f"{advice}. format='safetensors' has words for a few more kinds"
        )

    # ---- objects of classes ----

    def of_class(self, value: Any) -> Write | None:
        """How an object of an allowed class is written, a module, and what a module has; None for others."""
        kind = type(value)
        if isinstance(value, type) and (own := safetypes.name_of(value)) is not None:
            return lambda self, v: self.name(*_split(v, own))
        family = safetypes.family_of(kind)
        allowed = safetypes.name_of(kind)
        if not (self.families or family or allowed):
            return None
        if not has_state(value) or isinstance(value, type):
            named = safetypes.findable_name(value) if self.families else None
            return None if named is None else lambda self, v: self.name(*_split(v, named))
        name = allowed or safetypes.findable_name(kind)
        if name is None:
            raise TypeError(
                f"cannot save an object of {kind.__qualname__}, which is defined inside a "
                "function, where no file can find it. "
                "Define the class at the top of a module, or save its state_dict()"
            )
        return lambda self, v: self.once(v, lambda v: self.new_object(v, *_split(kind, name)))

    def new_object(self, value: Any, module: str, name: str) -> Steps:
        kind, state = type(value), safetypes.state_of(value)
        if issubclass(kind, enum.Enum):
            return (yield from self.call_of(module, name, value.value))
        if kind is functools.partial:
            return (yield from self.partial(value))
        self.name(module, name)
        if issubclass(kind, tuple):
            yield from self.tuple_of(state)
            self.out += b"\x81"
            return self.remember(id(value))
        family = safetypes.family_of(kind)
        self.families += family is not None
        self.out += b")\x81"
        self.remember(id(value))
        yield from self.parts(Bare({**_no_hooks(), **state} if family else state))
        self.out += b"b"
        self.families -= family is not None
        return None

    def partial(self, value: functools.partial[Any]) -> Steps:
        function, arguments, keywords = safetypes.partial_parts(value)
        yield from self.call_of("functools", "partial", function)
        self.remember(id(value))
        yield from self.parts((function, arguments, keywords, dict(vars(value)) or None))
        self.out += b"b"

    # ---- words ----

    def remember(self, key: Any) -> None:
        number = self.memo[key] = len(self.memo)
        self.out += b"q" + bytes([number]) if number < 256 else b"r" + struct.pack("<I", number)

    def recalled(self, key: Any) -> bool:
        number = self.memo.get(key)
        if number is None:
            return False
        self.out += b"h" + bytes([number]) if number < 256 else b"j" + struct.pack("<I", number)
        return True

    def name(self, module: str, name: str) -> None:
        if not self.recalled((module, name)):
            if max(len(module.encode()), len(name.encode())) >= LONGEST_NAME:
                raise ValueError(
                    f"cannot save {self.place()}: the name of its class is longer than {LONGEST_NAME} bytes"
                )
            self.out += f"c{module}\n{name}\n".encode()
            self.remember((module, name))

    def call(self, module: str, name: str, *arguments: Any) -> None:
        """What `module.name` makes of the arguments, which are small."""
        drive(self.call_of(module, name, *arguments), self.too_deep())

    def call_of(self, module: str, name: str, *arguments: Any) -> Steps:
        """The same of any arguments."""
        self.name(module, name)
        yield from self.tuple_of(arguments)
        self.out += b"R"

    def plain_tuple(self, values: tuple[Any, ...]) -> None:
        """A tuple of small values, which is not remembered."""
        drive(self.tuple_of(values), self.too_deep())

    def counts(self, values: Iterable[int]) -> None:
        """A tuple of numbers, which is not remembered."""
        self.out += b"("
        for value in values:
            self.put_int(value)
        self.out += b"t"

    def empty_ordered_dict(self) -> None:
        self.name("collections", "OrderedDict")
        self.out += b")R"

    def tuple_of(self, values: tuple[Any, ...]) -> Steps:
        self.out += b")" if not values else b"(" if len(values) > 3 else b""
        for value in values:
            if (steps := self.part(value)) is not None:
                yield steps
        self.out += (b"", b"\x85", b"\x86", b"\x87")[len(values)] if len(values) < 4 else b"t"

    # ---- numbers and texts ----

    def put_int(self, value: int) -> None:
        if 0 <= value < 1 << 8:
            self.out += b"K" + bytes([value])
        elif 0 <= value < 1 << 16:
            self.out += b"M" + struct.pack("<H", value)
        elif -(1 << 31) <= value < 1 << 31:
            self.out += b"J" + struct.pack("<i", value)
        else:
            data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
            if len(data) > _LONGEST_INT:
                raise ValueError(f"cannot save an integer of {len(data)} bytes")
            self.out += b"\x8a" + bytes([len(data)]) + data

    def put_float(self, value: float) -> None:
        self.out += b"G" + struct.pack(">d", value)

    def put_str(self, value: str) -> None:
        if not self.recalled(value):
            data = value.encode("utf-8", "surrogatepass")
            self.out += b"X" + struct.pack("<I", len(data)) + data
            self.remember(value)

    def put_bytes(self, value: bytes) -> None:
        self.call("_codecs", "encode", value.decode("latin-1"), "latin1")

    # ---- containers ----

    def once(self, value: Any, write: Callable[[Any], Steps]) -> Steps | None:
        """Write a container the first time, and afterwards only that it is the same."""
        height = self.heights.get(id(value))
        # a module's own code may be asked for what is round
        if height == _OPEN and not self.families:
            raise ValueError(f"cannot save {self.place()}: it contains itself")
        if not self.recalled(id(value)):
            self.kept.append(value)
            return self.opened(value, write(value))
        self.height = max(self.height, height or 0)
        return None

    def bare(self, value: Bare) -> Steps:
        self.kept.append(value.content)
        return self.new_dict(value.content) if value.is_dict else self.new_list(value.content)

    def opened(self, value: Any, steps: Steps) -> Steps:
        """The steps to a container, whose height is known afterwards."""
        outer, self.height = self.height, 0
        self.heights[id(value)] = _OPEN
        yield from steps
        self.heights[id(value)] = height = self.height + 1
        if height > DEEPEST:
            raise self.too_deep()
        self.height = max(outer, height)

    def put_list(self, value: list[Any]) -> Steps | None:
        return self.once(value, self.new_list)

    def new_list(self, value: list[Any]) -> Steps:
        self.out += b"]"
        self.remember(id(value))
        for begin in range(0, len(value), _BATCH):
            self.out += b"("
            for number, item in enumerate(value[begin : begin + _BATCH], begin):
                self.path.append(number)
                if (steps := self.part(item)) is not None:
                    yield steps
                self.path.pop()
            self.out += b"e"

    def put_tuple(self, value: tuple[Any, ...]) -> Steps | None:
        return self.once(value, self.new_tuple)

    def new_tuple(self, value: tuple[Any, ...]) -> Steps:
        yield from self.tuple_of(value)
        if value:
            self.remember(id(value))

    def put_dict(self, value: dict[Any, Any]) -> Steps | None:
        return self.once(value, self.new_dict)

    def new_dict(self, value: dict[Any, Any]) -> Steps:
        self.out += b"}"
        self.remember(id(value))
        yield from self.entries(value)

    def checked(self, keys: Iterable[Any]) -> None:
        """ValueError for keys and members of sets that are read only by those who trust the file."""
        if self.families:
            return
        try:
            for key in keys:
                self.keys.checked(key)
        except RefusedPickle as error:
            raise ValueError(
                f"cannot save {self.place()} in the form of .pt files: {error}; use "
                "format='safetensors'"
            ) from None

    def entries(self, value: dict[Any, Any]) -> Steps:
        self.checked(value)
        items = list(value.items())
        for begin in range(0, len(items), _BATCH):
            self.out += b"("
            for key, item in items[begin : begin + _BATCH]:
                if (steps := self.part(key)) is not None:
                    yield steps
                self.path.append(key)
                if (steps := self.part(item)) is not None:
                    yield steps
                self.path.pop()
            self.out += b"u"

    def ordered_dict(self, value: OrderedDict[Any, Any]) -> Steps | None:
        return self.once(value, self.new_ordered_dict)

    def new_ordered_dict(self, value: OrderedDict[Any, Any]) -> Steps:
        self.empty_ordered_dict()
        self.remember(id(value))
        yield from self.entries(value)
        if hasattr(value, _MODULE_VERSIONS):
            yield from self.parts({_MODULE_VERSIONS: getattr(value, _MODULE_VERSIONS)})
            self.out += b"b"

    def default_dict(self, value: defaultdict[Any, Any]) -> Steps | None:
        return self.once(value, self.new_default_dict)

    def new_default_dict(self, value: defaultdict[Any, Any]) -> Steps:
        factory = value.default_factory
        self.name("collections", "defaultdict")
        if factory in (list, dict, set, int, float, str, tuple, bool):
            self.name("__builtin__", factory.__name__)
        elif factory is None:
            self.out += b"N"
        else:
            raise TypeError("cannot save a defaultdict whose factory is a function of its own")
        self.out += b"\x85R"
        self.remember(id(value))
        yield from self.entries(value)

    # ---- tensors ----

    def tensor(self, value: Tensor) -> Steps | None:
        kind = type(value).__name__
        if kind in UNINITIALIZED and type(value).__module__.startswith(OWN):
            return self.once(value, self.new_uninitialized)
        if has_parts(value) and type(value).__module__.startswith(OWN):
            return self.once(value, self.new_parameter if kind == "Parameter" else self.new_tensor)
        if kind not in ("Tensor", "Parameter", "Buffer"):
            raise TypeError(f"cannot save a {kind}: convert it to a plain Tensor first")
        return self.once(value, self.new_parameter if kind == "Parameter" else self.new_tensor)

    def new_uninitialized(self, value: Tensor) -> Steps:
        self.name("torch.nn.parameter", type(value).__name__)
        self.out += b"("
        for argument in (value.requires_grad, None, value.dtype):
            yield from self.parts(argument)
        self.out += b"tR"
        self.remember(id(value))

    def new_parameter(self, value: Tensor) -> Steps:
        self.name("torch._utils", "_rebuild_parameter")
        plain = value.detach()
        self.kept.append(plain)  # what is remembered goes by its id
        yield from self.new_tensor(plain)
        self.value(value.requires_grad)
        self.empty_ordered_dict()
        self.out += b"\x87R"
        self.remember(id(value))

    def new_tensor(self, value: Tensor) -> Steps:
        if has_parts(value):
            return (yield from self.new_with_parts(value))
        refuse_names(value, self.place())
        if notes := vars(value):  # attributes that a program set
            self.name("torch._tensor", "_rebuild_from_type_v2")
            self.out += b"("
            self.maker(value)
            self.name("torch", "Tensor")
            self.arguments(value)
            yield from self.parts(notes)
            self.out += b"tR"
        else:
            self.maker(value)
            self.arguments(value)
            self.out += b"R"
        self.remember(id(value))

    def new_with_parts(self, value: Tensor) -> Steps:
        if vars(value):
            raise TypeError(
                f"cannot save {self.place()}: a {type(value).__name__} of {value.layout} with attributes of "
                "its own. Save them beside it, or use format='safetensors'"
            )
        name, parts, size, is_coalesced = facts_of(value)
        self.kept.append(parts)
        if name == "quantized":
            return (yield from self.new_quantized(value, parts, size))
        if name in MAKERS:
            made = made_of(name, value, parts, size)
            self.kept.append(made)
            yield from self.call_of(*MAKERS[name], *made)
            return self.remember(id(value))
        facts = (*parts, taeda.Size(size), *([is_coalesced] if name == "sparse_coo" else []))
        yield from self.call_of(
            "torch._utils", "_rebuild_sparse_tensor", getattr(taeda, name), facts
        )
        self.remember(id(value))

    def new_quantized(self, value: Tensor, parts: list[Tensor], facts: tuple[Any, ...]) -> Steps:
        """(storage, offset, size, stride, how it is scaled, requires_grad, hooks)."""
        integers, *channels = parts
        dtype, scheme, *scaled = facts[:4]
        self.name("torch._utils", "_rebuild_qtensor")
        self.out += b"("
        self.storage(integers, f"{QUANTIZED[dtype]}Storage")
        self.value(integers.storage_offset())
        self.counts(value.shape)
        is_packed = integers.shape != value.shape
        self.counts(_contiguous(value.shape) if is_packed else value.stride())
        self.out += b"("
        self.name("torch", scheme.removesuffix("_float_qparams"))
        for fact in (*channels, scaled[0]) if channels else scaled:
            yield from self.parts(fact)
        self.out += b"t"
        self.value(False)
        self.empty_ordered_dict()
        self.out += b"tR"
        self.remember(id(value))

    def maker(self, value: Tensor) -> None:
        plain = "v2" if value.dtype in STORAGE_OF else "v3"
        kind = "meta_tensor_no_storage" if value.is_meta else f"tensor_{plain}"
        self.name("torch._utils", f"_rebuild_{kind}")

    def arguments(self, value: Tensor) -> None:
        self.out += b"("
        if value.is_meta:
            self.value(value.dtype)
        else:
            self.storage(value)
            self.value(value.storage_offset())
        self.counts(value.shape)
        self.counts(value.stride())
        self.value(value.requires_grad)
        if not value.is_meta:
            self.rest(value)
        self.out += b"t"

    def rest(self, value: Tensor) -> None:
        """Hooks, of which none is saved, and what the numbers do not tell."""
        self.empty_ordered_dict()
        if value.dtype not in STORAGE_OF:
            self.value(value.dtype)
        if marks := {m: True for m in ("conj", "neg") if getattr(value, f"is_{m}")()}:
            self.value(marks)

    def storage(self, tensor: Tensor, kind: str | None = None) -> None:
        """The identity of a tensor's storage. Each storage is written once."""
        plain = kind or STORAGE_OF.get(tensor.dtype)
        address = _core.storage_address(tensor)
        number = self.numbers.setdefault(address, len(self.storages))
        if number == len(self.storages):
            self.storages.append(_core.storage_bytes(tensor.detach()))
        count = self.storages[number].numel()
        self.out += b"("
        self.value("storage")
        self.name("torch" if plain else "torch.storage", plain or "UntypedStorage")
        self.value(str(number))
        self.value(tag_of(tensor))
        self.value(count // tensor.element_size() if plain else count)
        self.out += b"tQ"


def _contiguous(size: Sequence[int]) -> tuple[int, ...]:
    """Strides of a tensor of this size whose numbers lie one after the other."""
    return tuple(math.prod(size[at + 1 :]) for at in range(len(size)))


def _no_hooks() -> dict[str, Any]:
    """What torch's modules have in any case. Each gets tables of its own."""
    return {
        "_backward_hooks": OrderedDict(),
        "_forward_hooks": OrderedDict(),
        "_is_full_backward_hook": None,
    }


def _called(module: str, name: str, parts: Callable[[Any], Any], keys: bool = False) -> Write:
    """How a container is written that `module.name` makes of `parts` of it. Each is written once."""

    def steps(self: Emitter, value: Any) -> Steps:
        if keys:
            self.checked(value)
        made = parts(value)
        yield from self.call_of(
            module, name, Bare(made) if isinstance(made, (list, dict)) else made
        )
        self.remember(id(value))

    return lambda self, value: self.once(value, lambda v: steps(self, v))


def _split(thing: Any, full: str) -> tuple[str, str]:
    """Module and name of a class or function; of taeda.nn's own as torch calls them."""
    if (theirs := safetypes.torch_name(thing, full)) is not None:
        return theirs
    name = (
        thing.__qualname__ if full.endswith(f".{thing.__qualname__}") else full.rpartition(".")[2]
    )
    return full.removesuffix(f".{name}"), name


_WRITERS: dict[type, Write] = {
    type(None): lambda self, value: self.out.extend(b"N"),
    bool: lambda self, value: self.out.extend(b"\x88" if value else b"\x89"),
    int: Emitter.put_int,
    float: Emitter.put_float,
    complex: lambda self, value: self.call("__builtin__", "complex", value.real, value.imag),
    str: Emitter.put_str,
    bytes: Emitter.put_bytes,
    bytearray: _called("__builtin__", "bytearray", bytes),
    list: Emitter.put_list,
    tuple: Emitter.put_tuple,
    set: _called("__builtin__", "set", list, keys=True),
    frozenset: _called("__builtin__", "frozenset", list, keys=True),
    dict: Emitter.put_dict,
    OrderedDict: Emitter.ordered_dict,
    Counter: _called("collections", "Counter", dict),
    defaultdict: Emitter.default_dict,
    taeda.Size: _called("torch", "Size", tuple),
    taeda.device: lambda self, value: self.call("torch", "device", str(value)),
    qscheme: lambda self, value: self.name("torch", value.name),
    Tensor: Emitter.tensor,
    Bare: Emitter.bare,
}
