"""One step of a recurrence as a module."""

from __future__ import annotations

import math
from typing import Any

import taeda
from taeda import Tensor

from .. import init
from ..functional import linear
from ..parameter import Parameter
from ._recurrence import States, Step, Weights, gru_step, lstm_step, relu_step, tanh_step
from ._repr import unusual
from .module import Module

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


class RNNCellBase(Module):
    """Weights `weight_ih`, `weight_hh`, `bias_ih` and `bias_hh`, uniform in ±1/sqrt(hidden_size).

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        bias: whether both biases are there.
        num_chunks: number of gates: 1, 3 (GRU) or 4 (LSTM).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    >>> cell = taeda.nn.GRUCell(3, 2)
    >>> isinstance(cell, taeda.nn.RNNCellBase), cell.weight_ih.shape
    (True, taeda.Size([6, 3]))
    """

    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size

        def made(*shape: int) -> Parameter:
            return Parameter(taeda.empty(shape, device=device, dtype=dtype))

        self.weight_ih = made(gates, input_size)
        self.weight_hh = made(gates, hidden_size)
        self.register_parameter("bias_ih", made(gates) if bias else None)
        self.register_parameter("bias_hh", made(gates) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def extra_repr(self) -> str:
        shown = unusual(self, bias=True, nonlinearity="tanh")
        return ", ".join([str(self.input_size), str(self.hidden_size), *shown])

    def _taeda_advance(
        self, step: Step, input: Tensor, hx: tuple[Tensor, ...] | None, count: int
    ) -> States:
        """One step from `count` states, which are zeros if not given."""
        if input.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 1D or 2D, got {input.dim()}D instead"
            )
        batched = input.dim() == 2
        rows = input if batched else input.unsqueeze(0)
        if hx is None:
            shape = (rows.size(0), self.hidden_size)
            states = (taeda.zeros(shape, dtype=rows.dtype, device=rows.device),) * count
        else:
            self._taeda_check_ranks(hx)
            states = hx if batched else tuple(state.unsqueeze(0) for state in hx)
        self._taeda_check_sizes(rows, states)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        after = step(linear(rows, self.weight_ih, self.bias_ih), states, weights)
        return after if batched else tuple(state.squeeze(0) for state in after)

    def _taeda_check_ranks(self, states: States) -> None:
        for i, state in enumerate(states):
            if state.dim() not in (1, 2):
                raise ValueError(
                    f"{type(self).__name__}: Expected hx[{i}] to be 1D or 2D, got {state.dim()}D instead"
                )

    def _taeda_check_sizes(self, rows: Tensor, states: States) -> None:
        if rows.size(1) != self.input_size:
            raise RuntimeError(
                f"input has inconsistent input_size: got {rows.size(1)} expected {self.input_size}"
            )
        for i, state in enumerate(states):
            if state.dim() != 2 or state.size(0) != rows.size(0):
                raise RuntimeError(
                    f"Input batch size {rows.size(0)} doesn't match hidden{i} batch size {state.size(0)}"
                )
            if state.size(1) != self.hidden_size:
                raise RuntimeError(
                    f"hidden{i} has inconsistent hidden_size: got {state.size(1)}, expected "
                    f"{self.hidden_size}"
                )


class RNNCell(RNNCellBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu by `nonlinearity`.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        bias: whether both biases are there (True).
        nonlinearity: "tanh" (default) or "relu".
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, input_size) or (input_size); state and output: (N, hidden_size) or (hidden_size).

    >>> RNNCell(3, 4)(taeda.zeros(2, 3)).shape
    taeda.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(N, input_size) or (input_size), to the next hidden state."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        step = tanh_step if self.nonlinearity == "tanh" else relu_step
        return self._taeda_advance(step, input, None if hx is None else (hx,), 1)[0]


class LSTMCell(RNNCellBase):
    """One step of long short-term memory.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        bias: whether both biases are there (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, input_size) or (input_size); h and c: (N, hidden_size) or (hidden_size).

    Hochreiter and Schmidhuber (1997).

    >>> LSTMCell(3, 4)(taeda.zeros(2, 3))[0].shape
    taeda.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """(N, input_size) or (input_size), to the next pair (h, c)."""
        if hx is not None:
            hx = (hx[0], hx[1])
        hidden, cell = self._taeda_advance(lstm_step, input, hx, 2)
        return hidden, cell


class GRUCell(RNNCellBase):
    """One step of gated recurrent units.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        bias: whether both biases are there (True).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Shape:
        input: (N, input_size) or (input_size); state and output: (N, hidden_size) or (hidden_size).

    Cho and others (arXiv:1406.1078).

    >>> GRUCell(3, 4)(taeda.zeros(2, 3)).shape
    taeda.Size([2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """(N, input_size) or (input_size), to the next hidden state."""
        return self._taeda_advance(gru_step, input, None if hx is None else (hx,), 1)[0]
