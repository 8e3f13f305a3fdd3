"""An object of tensors and plain data as JSON, the same for taeda's and torch's: to compare across processes.

Tensors are told by dtype, shape, strides, offset, marks and the number of their storage; a storage
by its bytes.
"""

from __future__ import annotations

import hashlib
from typing import Any

__all__ = ["describe"]


def describe(value: Any, library: Any) -> dict[str, Any]:
    """What `value`, made by `library` (taeda or torch), holds."""
    teller = _Teller(library)
    return {"object": teller.tell(value), "storages": teller.storages}


class _Teller:
    def __init__(self, library: Any) -> None:
        self.kinds = library
        self.storages: list[Any] = []
        self.numbers: dict[Any, int] = {}
        self.kept: list[Any] = []
        self.seen: dict[int, int] = {}

    def tell(self, value: Any) -> Any:
        kind = type(value).__name__
        if isinstance(value, self.kinds.Tensor):
            return self.tensor(value)
        if kind in ("UntypedStorage", "TypedStorage"):
            return [
                kind,
                bytes(value.untyped().tolist()).hex() if kind[0] == "T" else value.tolist(),
            ]
        if isinstance(value, self.kinds.dtype | self.kinds.layout):
            return [kind, str(value).rpartition(".")[2]]
        if isinstance(value, self.kinds.device):
            return [kind, str(value)]
        if kind == "ndarray" or type(value).__module__ == "numpy":
            return [kind, str(value.dtype.newbyteorder("=")), value.shape, repr(value.tolist())]
        if isinstance(value, dict | list | tuple | set | frozenset):
            return self.container(value, kind)
        return [kind, repr(bytes(value) if isinstance(value, bytearray) else value)]

    def container(self, value: Any, kind: str) -> Any:
        number = self.seen.get(id(value))
        if number is not None and value:
            return ["again", number]
        self.seen[id(value)] = len(self.seen)
        self.kept.append(value)
        if isinstance(value, set | frozenset):
            return [kind, sorted(repr(item) for item in value)]
        if isinstance(value, dict):
            pairs = [[self.tell(key), self.tell(item)] for key, item in value.items()]
            extra = getattr(value, "_metadata", None)
            factory = getattr(getattr(value, "default_factory", None), "__name__", None)
            return [kind, pairs, None if extra is None else self.tell(extra), factory]
        return [kind, [self.tell(item) for item in value]]

    def tensor(self, value: Any) -> Any:
        marks = [name for name in ("requires_grad", "is_leaf") if getattr(value, name)] + [
            name for name in ("is_conj", "is_neg") if getattr(value, name)()
        ]
        notes = {k: v for k, v in vars(value).items() if isinstance(v, bool | str | int)}
        facts = [type(value).__name__, str(value.dtype).rpartition(".")[2], list(value.shape)]
        facts += [list(value.stride()), marks, notes]
        if value.device.type == "meta":
            return [*facts, "meta"]
        return [*facts, value.storage_offset(), self.storage(value)]

    def storage(self, value: Any) -> int:
        storage = value.untyped_storage()
        key = storage.data_ptr() or id(storage)
        if key not in self.numbers:
            self.kept.append(value)
            self.numbers[key] = len(self.storages)
            content = bytes(storage.tolist())
            short = content.hex() if len(content) <= 64 else hashlib.sha256(content).hexdigest()
            self.storages.append([len(content), short])
        return self.numbers[key]
