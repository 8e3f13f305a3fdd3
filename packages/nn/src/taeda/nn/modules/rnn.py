"""Recurrent layers of several levels and directions: RNN, LSTM and GRU."""

from __future__ import annotations

import math
import numbers
from typing import Any

import taeda
from taeda import Tensor
from taeda._core_api import warn
from taeda._core_api.calls import lower_type

from .. import init
from ..parameter import Parameter
from ..utils.rnn import PackedSequence
from ._recurrence import States, Weights, walk_layers
from ._repr import unusual
from .module import Module
from .rnn_cells import GRUCell, LSTMCell, RNNCell, RNNCellBase

__all__ = [
    "GRU",
    "LSTM",
    "RNN",
    "GRUCell",
    "LSTMCell",
    "RNNBase",
    "RNNCell",
    "RNNCellBase",
]

_GATES = {"RNN_TANH": 1, "RNN_RELU": 1, "LSTM": 4, "GRU": 3}


def apply_permutation(tensor: Tensor, permutation: Tensor, dim: int = 1) -> Tensor:
    """The samples along `dim` in another order."""
    return tensor.index_select(dim, permutation)


def _permuted(state: Tensor, permutation: Tensor | None) -> Tensor:
    return state if permutation is None else apply_permutation(state, permutation)


class RNNBase(Module):
    """A recurrence, stacked in layers, forward or in both directions.

    Input (T, N, F), (N, T, F) with `batch_first`, (T, F), or packed. Weights are `weight_ih_l0`,
    `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0` and so on, `..._reverse` for the way back; all start uniform in
    ±1/sqrt(hidden_size).

    Args:
        mode: "RNN_TANH", "RNN_RELU", "LSTM" or "GRU".
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        num_layers: number of stacked layers (1).
        bias: whether both biases are there (True).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        dropout: probability, in [0, 1], of dropout after each layer but the last (0).
        bidirectional: whether a second recurrence runs from the end (False).
        proj_size: features that h is projected to (0: none), less than `hidden_size`; for LSTM
            only.
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    >>> RNNBase("GRU", 3, 4)(taeda.zeros(5, 2, 3))[0].shape
    taeda.Size([5, 2, 4])
    """

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        for name, flag in (("bias", bias), ("batch_first", batch_first)):
            if not isinstance(flag, bool):
                raise TypeError(f"{name} should be of type bool, got: {type(flag).__name__}")
        _check_options(mode, input_size, hidden_size, num_layers, dropout, proj_size)
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._suffixes: list[str] = []
        for layer in range(num_layers):
            for direction in ("", "_reverse")[: 1 + bidirectional]:
                self._suffixes.append(f"_l{layer}{direction}")
                for name, shape in self._taeda_shapes(layer).items():
                    made = Parameter(taeda.empty(shape, device=device, dtype=dtype))
                    setattr(self, name + self._suffixes[-1], made)
        self.reset_parameters()

    def _taeda_shapes(self, layer: int) -> dict[str, tuple[int, ...]]:
        gates = _GATES[self.mode] * self.hidden_size
        output = self.proj_size or self.hidden_size
        below = output * (1 + self.bidirectional) if layer else self.input_size
        shapes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, below),
            "weight_hh": (gates, output),
        }
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            shapes["weight_hr"] = (self.proj_size, self.hidden_size)
        return shapes

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        bound = 1.0 / math.sqrt(self.hidden_size) if self.hidden_size > 0 else 0
        for weight in self.parameters():
            init.uniform_(weight, -bound, bound)

    def flatten_parameters(self) -> None:
        """Nothing: weights are used where they are. Kept for programs that call it."""

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The weights of every layer and direction."""
        return [
            [getattr(self, name + suffix) for name in self._taeda_shapes(0)]
            for suffix in self._suffixes
        ]

    # names by which libraries reach the weights

    @property
    def _all_weights(self) -> list[list[str]]:
        return [[name + suffix for name in self._taeda_shapes(0)] for suffix in self._suffixes]

    @property
    def _flat_weights_names(self) -> list[str]:
        return [name for names in self._all_weights for name in names]

    @property
    def _flat_weights(self) -> list[Parameter]:
        return [getattr(self, name) for name in self._flat_weights_names]

    @_flat_weights.setter
    def _flat_weights(self, weights: list[Any]) -> None:
        """Accepts what is there already: attributes hold the weights, and nothing else does."""
        there = self._flat_weights
        if len(weights) != len(there) or any(
            a is not b for a, b in zip(weights, there, strict=True)
        ):
            raise RuntimeError(
                "_flat_weights: the weights of a recurrence are its attributes: assign "
                f"{', '.join(self._flat_weights_names[:2])} and so on"
            )

    def extra_repr(self) -> str:
        usual = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        return ", ".join([str(self.input_size), str(self.hidden_size), *unusual(self, **usual)])

    # ---- checks ----

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Raises ValueError for another dtype (where no autocast takes care of that), RuntimeError
        for another shape.
        """
        weight = getattr(self, "weight_ih" + self._suffixes[0])
        if input.dtype != weight.dtype and lower_type(input.device.type) is None:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({weight.dtype}). "
                "Convert input: "
                f"input.to({weight.dtype}), or convert model: model.to({input.dtype})"
            )
        wanted = 2 if batch_sizes is not None else 3
        if input.dim() != wanted:
            raise RuntimeError(f"input must have {wanted} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.size(-1)}"
            )

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of the hidden states."""
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0 if self.batch_first else 1)
        return len(self._suffixes), batch, self.proj_size or self.hidden_size

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Raises RuntimeError for a state of another shape."""
        if tuple(hx.shape) != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """The shape of the cell states of an LSTM."""
        return (*self.get_expected_hidden_size(input, batch_sizes)[:2], self.hidden_size)

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """What a call checks: the input, and the states, of an LSTM a pair. The errors of `check_input`
        and `check_hidden_size`.
        """
        self.check_input(input, batch_sizes)
        expected = self.get_expected_hidden_size(input, batch_sizes)
        if self.mode != "LSTM":
            self.check_hidden_size(hidden, expected)
            return
        self.check_hidden_size(hidden[0], expected, "Expected hidden[0] size {}, got {}")
        cell = self.get_expected_cell_size(input, batch_sizes)
        self.check_hidden_size(hidden[1], cell, "Expected hidden[1] size {}, got {}")

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """The states, of an LSTM a pair, with the samples of a batch in another order; None: as they are."""
        if isinstance(hx, tuple):
            return tuple(_permuted(state, permutation) for state in hx)
        return _permuted(hx, permutation)

    # ---- the computation ----

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """The outputs of the last layer at every step, and the last states of every layer.

        Without `hx` the first states are zeros. Outputs are packed if the input is.
        """
        if isinstance(input, PackedSequence):
            return self._taeda_forward_packed(input, hx)
        if input.dim() not in (2, 3):
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead"
            )
        batched = input.dim() == 3
        dim = 0 if self.batch_first else 1
        rows = input if batched else input.unsqueeze(dim)
        states = self._taeda_first_states(rows, hx, None, batched)
        self.check_forward_args(rows, self._taeda_given_out(states), None)
        output, states = self._taeda_run(
            rows.transpose(0, 1) if self.batch_first else rows, states, None
        )
        if self.batch_first:
            output = output.transpose(0, 1)
        if not batched:
            output, states = output.squeeze(dim), tuple(state.squeeze(1) for state in states)
        return output, self._taeda_given_out(states)

    def _taeda_forward_packed(self, packed: PackedSequence, hx: Any) -> tuple[PackedSequence, Any]:
        data, sizes, order, back = packed
        states = self._taeda_first_states(data, hx, sizes, True)
        if hx is not None:
            states = self.permute_hidden(states, order)
        self.check_forward_args(data, self._taeda_given_out(states), sizes)
        output, states = self._taeda_run(data, states, sizes.tolist())
        states = self.permute_hidden(states, back)
        return PackedSequence(output, sizes, order, back), self._taeda_given_out(states)

    def _taeda_given_out(self, states: States) -> Any:
        return states if self.mode == "LSTM" else states[0]

    def _taeda_first_states(
        self, rows: Tensor, hx: Any, sizes: Tensor | None, batched: bool
    ) -> States:
        lstm = self.mode == "LSTM"
        if hx is None:
            layers, batch, width = self.get_expected_hidden_size(rows, sizes)
            widths = (width, self.hidden_size) if lstm else (width,)
            return tuple(
                taeda.zeros((layers, batch, w), dtype=rows.dtype, device=rows.device)
                for w in widths
            )
        states = (hx[0], hx[1]) if lstm else (hx,)
        wanted = 3 if batched else 2
        if any(state.dim() != wanted for state in states):
            names = "hx and cx" if lstm else "hx"
            found = ", ".join(f"{state.dim()}-D" for state in states)
            kind = "batched 3-D" if batched else "unbatched 2-D"
            raise RuntimeError(
                f"For {kind} input, {names} should also be {wanted}-D but got ({found}) tensor"
            )
        return states if batched else tuple(state.unsqueeze(1) for state in states)

    def _taeda_run(
        self, rows: Tensor, states: States, sizes: list[int] | None
    ) -> tuple[Tensor, States]:
        """All layers over (T, N, F) or packed rows."""
        weights = [self._taeda_weights(place) for place in range(len(self._suffixes))]
        dropout = self.dropout if self.training else 0.0
        return walk_layers(self.mode, rows, states, weights, sizes, 1 + self.bidirectional, dropout)

    def _taeda_weights(self, place: int) -> Weights:
        suffix = self._suffixes[place]

        def get(name: str, wanted: bool) -> Any:
            return getattr(self, name + suffix) if wanted else None

        return Weights(
            get("weight_ih", True),
            get("weight_hh", True),
            get("bias_ih", self.bias),
            get("bias_hh", self.bias),
            get("weight_hr", bool(self.proj_size)),
        )


def _check_options(
    mode: str, input_size: Any, hidden_size: Any, num_layers: int, dropout: Any, proj_size: int
) -> None:
    """Raises ValueError or TypeError."""
    if mode not in _GATES:
        raise ValueError(f"Unrecognized RNN mode: {mode}")
    probability = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not probability or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being "
            f"zeroed, got {dropout!r}"
        )
    if dropout > 0 and num_layers == 1:
        warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
        )
    _check_sizes(input_size=input_size, hidden_size=hidden_size, num_layers=num_layers)
    _check_projection(mode, hidden_size, proj_size)


def _check_sizes(**sizes: Any) -> None:
    for name, size in sizes.items():
        if name != "num_layers" and not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
    for name, size in sizes.items():
        if size <= 0:
            raise ValueError(f"{name} must be greater than zero, got {size}")


def _check_projection(mode: str, hidden_size: int, proj_size: int) -> None:
    if proj_size < 0:
        raise ValueError(
            f"proj_size should be a positive integer or zero to disable projections, got {proj_size}"
        )
    if proj_size >= hidden_size:
        raise ValueError(
            f"proj_size has to be smaller than hidden_size, got {proj_size} and {hidden_size}"
        )
    if proj_size and mode != "LSTM":
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """h' = tanh(W_ih x + b_ih + W_hh h + b_hh), or relu by `nonlinearity`. Raises ValueError for another.

    Args:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        num_layers: number of stacked layers (1).
        nonlinearity: "tanh" (default) or "relu".
        *args, **kwargs: the further arguments, in this order:
        bias: whether both biases are there (True).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        dropout: probability, in [0, 1], of dropout after each layer but the last (0).
        bidirectional: whether a second recurrence runs from the end (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    >>> RNN(3, 4)(taeda.zeros(5, 2, 3))[0].shape
    taeda.Size([5, 2, 4])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        *args: Any,
        **kwargs: Any,
    ) -> None:
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity {nonlinearity!r}. Select from 'tanh' or 'relu'."
            )
        _check_no_projection(kwargs)
        mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(mode, input_size, hidden_size, num_layers, *args, **kwargs)
        self.nonlinearity = nonlinearity


class LSTM(RNNBase):
    """Long short-term memory; states are pairs (h, c). `proj_size` projects h to fewer elements.

    Args:
        *args, **kwargs: these arguments, in this order:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        num_layers: number of stacked layers (1).
        bias: whether both biases are there (True).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        dropout: probability, in [0, 1], of dropout after each layer but the last (0).
        bidirectional: whether a second recurrence runs from the end (False).
        proj_size: features that h is projected to (0: none), less than `hidden_size`; for LSTM
            only.
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Hochreiter and Schmidhuber (1997).

    >>> output, (h, c) = LSTM(10, 20)(taeda.randn(5, 3, 10))
    >>> output.shape, h.shape
    (taeda.Size([5, 3, 20]), taeda.Size([1, 3, 20]))
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("LSTM", *args, **kwargs)


class GRU(RNNBase):
    """Gated recurrent units.

    Args:
        *args, **kwargs: these arguments, in this order:
        input_size: number of features of the input.
        hidden_size: number of features of the state.
        num_layers: number of stacked layers (1).
        bias: whether both biases are there (True).
        batch_first: whether the batch is dimension 0 instead of 1 (False).
        dropout: probability, in [0, 1], of dropout after each layer but the last (0).
        bidirectional: whether a second recurrence runs from the end (False).
        device: where the parameters are made (None: the default device).
        dtype: floating-point dtype of the parameters (None: the default dtype).

    Cho and others (arXiv:1406.1078).

    >>> GRU(3, 4)(taeda.zeros(5, 2, 3))[0].shape
    taeda.Size([5, 2, 4])
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _check_no_projection(kwargs)
        super().__init__("GRU", *args, **kwargs)


def _check_no_projection(options: dict[str, Any]) -> None:
    if "proj_size" in options:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
