"""Layers that follow each other as one module: what `fuse_modules` makes."""

from __future__ import annotations

from typing import Any

from taeda import nn

__all__ = [
    "BNReLU2d", "BNReLU3d", "ConvBn1d", "ConvBn2d", "ConvBn3d", "ConvBnReLU1d", "ConvBnReLU2d",
    "ConvBnReLU3d", "ConvReLU1d", "ConvReLU2d", "ConvReLU3d", "LinearBn1d", "LinearReLU",
]  # fmt: skip

_RELU = (nn.ReLU, nn.ReLU6)


class _FusedModule(nn.Sequential):
    """Layers that are observed and converted as one."""


class _Joined(_FusedModule):
    #: what each layer is
    kinds: tuple[Any, ...]

    def __init__(self, *layers: nn.Module) -> None:
        kinds = self.kinds
        if len(layers) != len(kinds) or not all(map(isinstance, layers, kinds)):
            raise AssertionError(
                f"{type(self).__name__} wants {[_name(kind) for kind in kinds]}, but got "
                f"{[type(layer).__name__ for layer in layers]}"
            )
        super().__init__(*layers)


def _name(kind: Any) -> str:
    return kind[0].__name__ if isinstance(kind, tuple) else str(kind.__name__)


def _example(name: str, kinds: tuple[Any, ...]) -> str:
    sizes = {"Conv": "(1, 2, 3)", "Linear": "(1, 2)", "BatchNorm": "(2)", "ReLU": "()"}
    names = [_name(kind) for kind in kinds]
    layers = ", ".join(f"nn.{name}{sizes[name.rstrip('123d')]}" for name in names)
    order = ", ".join(map(repr, names))
    return f"""    >>> from taeda import nn
    >>> layer = taeda.ao.nn.intrinsic.{name}({layers})
    >>> [type(part).__name__ for part in layer]
    [{order}]
"""


def _joined(name: str, *kinds: Any) -> Any:
    words = ", ".join(_name(kind) for kind in kinds)
    doc = (
        f"{words} as one module, called one after the other.\n\n    Args:\n"
        "        *layers: those, in this order\n\n    AssertionError for others.\n\n"
        f"{_example(name, kinds)}    "
    )
    return type(name, (_Joined,), {"kinds": kinds, "__doc__": doc, "__module__": __name__})


ConvReLU1d = _joined("ConvReLU1d", nn.Conv1d, _RELU)
ConvReLU2d = _joined("ConvReLU2d", nn.Conv2d, _RELU)
ConvReLU3d = _joined("ConvReLU3d", nn.Conv3d, _RELU)
LinearReLU = _joined("LinearReLU", nn.Linear, _RELU)
ConvBn1d = _joined("ConvBn1d", nn.Conv1d, nn.BatchNorm1d)
ConvBn2d = _joined("ConvBn2d", nn.Conv2d, nn.BatchNorm2d)
ConvBn3d = _joined("ConvBn3d", nn.Conv3d, nn.BatchNorm3d)
ConvBnReLU1d = _joined("ConvBnReLU1d", nn.Conv1d, nn.BatchNorm1d, _RELU)
ConvBnReLU2d = _joined("ConvBnReLU2d", nn.Conv2d, nn.BatchNorm2d, _RELU)
ConvBnReLU3d = _joined("ConvBnReLU3d", nn.Conv3d, nn.BatchNorm3d, _RELU)
BNReLU2d = _joined("BNReLU2d", nn.BatchNorm2d, _RELU)
BNReLU3d = _joined("BNReLU3d", nn.BatchNorm3d, _RELU)
LinearBn1d = _joined("LinearBn1d", nn.Linear, nn.BatchNorm1d)
