"""Random numbers in workers: seeds, and the states of the generators as values that can be kept.

Three generators are known: taeda's, Python's `random` and NumPy's global one. The last two count if
they are loaded.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from typing import Any

import taeda
from taeda import Tensor

__all__ = [
    "from_plain",
    "kept_streams",
    "mixed",
    "restore_streams",
    "seed_batch",
    "seed_streams",
    "seed_worker",
    "streams",
    "to_plain",
]

_BITS = 2**64 - 1

Streams = dict[str, Any]


def mixed(*numbers: int) -> int:
    """A seed of 63 bits that depends on every one of `numbers`."""
    import hashlib  # in workers only

    digest = hashlib.blake2b(repr(numbers).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> 1


def seed_worker(base_seed: int, worker: int) -> None:
    """Seed taeda and Python by `base_seed + worker`, and NumPy by another number made of both."""
    seed_streams(base_seed + worker, mixed(base_seed, worker))


def seed_batch(base_seed: int, epoch: int, batch: int) -> None:
    """Seed the three generators by the batch, whichever process fetches it."""
    # Python and NumPy have the same generator: from the same seed they would draw the same numbers
    seed_streams(mixed(base_seed, epoch, batch), mixed(base_seed, epoch, batch, 1))


def seed_streams(seed: int, numpy_seed: int) -> None:
    """Seed the three generators; NumPy's also if it is imported only later."""
    import random

    random.seed(seed)
    taeda.manual_seed(seed & _BITS)
    words = [numpy_seed & 0xFFFFFFFF, numpy_seed >> 32]
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(words)
    else:
        _SeedWhenLoaded.put_in_place(words)


class _SeedWhenLoaded:
    """Among the finders of modules: seeds `numpy.random` at the moment it is loaded."""

    words: list[int]

    @classmethod
    def put_in_place(cls, words: list[int]) -> None:
        cls.words = words
        if cls not in sys.meta_path:
            sys.meta_path.insert(0, cls)

    @classmethod
    def find_spec(cls, name: str, path: Any, target: Any = None) -> Any:
        if name != "numpy.random":
            return None
        sys.meta_path.remove(cls)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_seed(module: Any) -> None:
            load(module)
            module.seed(cls.words)

        spec.loader.exec_module = load_and_seed  # type: ignore[method-assign]
        return spec


# ---- states ----


def streams() -> Streams:
    """The states of the three generators, in a form that is cheap to take and to compare."""
    found: Streams = {"taeda": memoryview(taeda.get_rng_state()).tobytes()}
    if "random" in sys.modules:
        found["python"] = sys.modules["random"].getstate()
    if "numpy.random" in sys.modules:
        name, words, *rest = sys.modules["numpy.random"].get_state()
        found["numpy"] = (name, words.tobytes(), *rest)
    return found


def restore_streams(states: Streams) -> None:
    """Set the generators to states that `streams` gave."""
    taeda.set_rng_state(_tensor(states["taeda"]))
    if "python" in states:
        importlib.import_module("random").setstate(states["python"])
    if "numpy" in states:
        name, words, *rest = states["numpy"]
        numpy_random = importlib.import_module("numpy.random")
        numpy_random.set_state((name, list(memoryview(words).cast("I")), *rest))


def _tensor(data: bytes) -> Tensor:
    return taeda.frombuffer(bytearray(data), dtype=taeda.uint8)


def to_plain(states: Streams | None) -> dict[str, Any] | None:
    """States as tensors, numbers and texts, for a checkpoint."""
    if states is None:
        return None
    plain: dict[str, Any] = {"taeda": _tensor(states["taeda"])}
    if "python" in states:
        version, words, gauss = states["python"]
        plain["python"] = {"version": version, "words": taeda.tensor(words), "gauss": gauss}
    if "numpy" in states:
        name, numpy_words, *rest = states["numpy"]
        plain["numpy"] = {"name": name, "words": _tensor(numpy_words), "rest": rest}
    return plain


def from_plain(plain: dict[str, Any] | None) -> Streams | None:
    """The opposite of `to_plain`."""
    if plain is None:
        return None
    states: Streams = {"taeda": memoryview(plain["taeda"]).tobytes()}
    if "python" in plain:
        python = plain["python"]
        states["python"] = (python["version"], tuple(python["words"].tolist()), python["gauss"])
    if "numpy" in plain:
        numpy = plain["numpy"]
        words = memoryview(numpy["words"]).tobytes()
        states["numpy"] = (numpy["name"], words, *numpy["rest"])
    return states


class kept_streams:
    """A context after which the generators are what they were before."""

    def __enter__(self) -> None:
        self._states = streams()

    def __exit__(self, *_: object) -> None:
        restore_streams(self._states)
