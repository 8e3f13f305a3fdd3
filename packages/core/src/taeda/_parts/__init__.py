"""Submodules that load when they are first named, and what is said when their distribution is missing.

`taeda.nn` raises AttributeError (so that hasattr answers), `import taeda.nn` raises MissingDistribution;
both name the distribution to install.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from typing import Any

from . import packages as packages  # ran before this package could be told of it

__all__ = ["DISTRIBUTIONS", "MissingDistribution", "install_hint", "lazy_attributes"]

#: submodules that other distributions bring
DISTRIBUTIONS = {
    "amp": "taeda-amp",
    "cpu.amp": "taeda-amp",
    "cuda.amp": "taeda-amp",
    "autograd": "taeda-autograd",
    "func": "taeda-autograd",
    "nn": "taeda-nn",
    "nn.parallel": "taeda-distributed",
    "nn.intrinsic": "taeda-quantization",
    "nn.qat": "taeda-quantization",
    "nn.quantizable": "taeda-quantization",
    "nn.quantized": "taeda-quantization",
    "optim": "taeda-optim",
    "distributed": "taeda-distributed",
    "distributions": "taeda-distributions",
    "_dynamo": "taeda-compile",
    "_higher_order_ops": "taeda-compile",
    "_logging": "taeda-compile",
    "compiler": "taeda-compile",
    "export": "taeda-export",
    "onnx": "taeda-onnx",
    "fx": "taeda-compile",
    "jit": "taeda-compile",
    "futures": "taeda-distributed",
    "masked": "taeda-masked",
    "monitor": "taeda-profiler",
    "nested": "taeda-nested",
    "profiler": "taeda-profiler",
    "ao": "taeda-quantization",
    "quantization": "taeda-quantization",
    "sparse": "taeda-sparse",
    "vision_ops": "taeda-vision-ops",
    "utils.benchmark": "taeda-benchmark",
    "utils.bottleneck": "taeda-profiler",
    "utils.flop_counter": "taeda-profiler",
    "utils.tensorboard": "taeda-profiler",
    "utils.checkpoint": "taeda-autograd",
    "utils.data": "taeda-data",
    "utils.cpp_extension": "taeda-cpp-extension",
    "utils.module_tracker": "taeda-nn",
}


class MissingDistribution(ModuleNotFoundError):
    """A part of taeda that is not installed."""


def _sentence(sub: str) -> str:
    from .advice import advice  # reads metadata, which few programs need

    name = DISTRIBUTIONS[sub]
    return f"taeda.{sub} is not installed; it comes with {name}: {advice(name)}"


def lazy_attributes(
    package: str, exports: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return `__getattr__` and `__dir__` for a package.

    Args:
        package: its full name, such as "taeda.nn".
        exports: from a public name to "module" (an attribute of taeda.module) or to "module:" (the
            module itself).
    """
    prefix = package.removeprefix("taeda").lstrip(".")

    def load(sub: str) -> Any:
        try:
            return importlib.import_module(f"taeda.{sub}")
        except ModuleNotFoundError as error:
            if isinstance(error, MissingDistribution):
                raise AttributeError(str(error)) from None
            if error.name != f"taeda.{sub}" or sub not in DISTRIBUTIONS:
                raise
            raise AttributeError(_sentence(sub)) from None

    def get(name: str) -> Any:
        target = exports.get(name)
        if target is None:
            sub = f"{prefix}.{name}" if prefix else name
            if sub in DISTRIBUTIONS:
                return load(sub)
            if name[:2] == "__":  # Python's own question
                raise AttributeError(f"module {package!r} has no attribute {name!r}")
            from .._torch_names.absent import answer  # at the first miss

            return answer(package)(name)
        module, colon, _ = target.partition(":")
        value = load(module) if colon else getattr(load(module), name)
        packages.name_place(value, package, name)
        setattr(sys.modules[package], name, value)
        return value

    def listing() -> list[str]:
        above = f"{prefix}." if prefix else ""
        own = [k.removeprefix(above) for k in DISTRIBUTIONS if k.startswith(above)]
        own = [k for k in own if "." not in k]
        return sorted({*vars(sys.modules[package]), *exports, *own})

    return get, listing


class _Hint:
    """The last finder: reached when no other knows the module; no `name=`, or
    `from taeda import nn` drops the text.
    """

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> None:
        top, _, sub = fullname.partition(".")
        if top != "taeda" or sys._getframe(2).f_code.co_name == "find_spec":
            return  # no import: importlib.util.find_spec only asks whether there is one
        if sub in DISTRIBUTIONS:
            raise MissingDistribution(_sentence(sub))
        from .._torch_names.absent import message  # at the first miss

        if (said := message(fullname)) is not None:
            raise ModuleNotFoundError(said)


def install_hint() -> None:
    """Put the finder at the end of `sys.meta_path`, once."""
    if not any(getattr(f, "__name__", "") == "_Hint" for f in sys.meta_path):
        sys.meta_path.append(_Hint)
