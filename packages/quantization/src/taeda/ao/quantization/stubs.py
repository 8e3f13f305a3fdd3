"""Where numbers become integers and floats again: stubs that a model has, and that `convert` replaces."""

from __future__ import annotations

from typing import Any

from taeda import nn

__all__ = ["DeQuantStub", "QuantStub", "QuantWrapper"]


class _Stub(nn.Module):
    """A place that `convert` replaces; until then nothing happens there."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        """`x` as it is."""
        return x


class QuantStub(_Stub):
    """Where floats will become integers. Before `convert` an observer, or nothing.

    Args:
        qconfig: how, if not as the model around it (default: None).

    >>> taeda.ao.quantization.QuantStub()(taeda.ones(2))  # until convert makes it quantize
    tensor([1., 1.])
    """


class DeQuantStub(_Stub):
    """Where integers will become floats. Before `convert` nothing.

    Args:
        qconfig: how, if not as the model around it (default: None).

    >>> taeda.ao.quantization.DeQuantStub()(taeda.ones(2))
    tensor([1., 1.])
    """


class QuantWrapper(nn.Module):
    """A module between a `QuantStub` and a `DeQuantStub`.

    Args:
        module: what computes with integers after `convert`.

    >>> wrapped = taeda.ao.quantization.QuantWrapper(taeda.nn.Linear(2, 1))
    >>> [name for name, _ in wrapped.named_children()]
    ['quant', 'dequant', 'module']
    """

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        qconfig = getattr(module, "qconfig", None)
        self.add_module("quant", QuantStub(qconfig))
        self.add_module("dequant", DeQuantStub(qconfig))
        self.add_module("module", module)
        self.train(module.training)

    def forward(self, X: Any) -> Any:
        """The module's result for `X`, both floats."""
        return self.dequant(self.module(self.quant(X)))
