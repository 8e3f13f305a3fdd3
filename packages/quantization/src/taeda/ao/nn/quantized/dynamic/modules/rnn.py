"""Recurrent layers on floats, with weights in integers.

Every product gets the scale of its own input's range: the inputs of all steps together have one, and each
state has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import taeda
from taeda import Tensor, nn
from taeda.nn.utils.rnn import PackedSequence, pack_padded_sequence, pad_packed_sequence
from taeda.quantization import _kernels

from ...._weights import quantized_weight
from ...modules._base import HidesPacked

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "RNNCell"]


class _Packed(nn.Module):
    """Weights of input and state, and biases: an entry of the state dict each."""

    def __init__(self, *parts: Any) -> None:
        super().__init__()
        self.parts = parts

    def product(self, which: int, x: Tensor) -> Tensor:
        """The input's product (0) or the state's (1), with the bias."""
        weight, bias = self.parts[which], self.parts[2 + which]
        if weight.is_quantized:
            return _kernels.dynamic_linear(x, weight, bias, True)
        return nn.functional.linear(x, weight.float(), bias)

    def forward(self, x: Any) -> Any:
        """`x` as it is."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "param"] = self.parts

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        if (key := prefix + "param") not in state_dict:
            rest[2].append(key)
            return
        found = tuple(state_dict.pop(key))
        shapes = [None if x is None else tuple(x.shape) for x in self.parts]
        if [None if x is None else tuple(x.shape) for x in found] != shapes:
            rest[4].append(f"{key}: weights and biases do not have the shapes {shapes}")
            return
        self.parts = found
        super()._load_from_state_dict(state_dict, prefix, rest[0], False, *rest[2:])


def _pack(mod: Any, names: tuple[str, ...], how: Any) -> _Packed:
    made: list[Any] = []
    for name in names:
        value = getattr(mod, name, None)
        if value is None or name.startswith("bias"):
            made.append(None if value is None else value.detach().float())
        elif how.dtype is taeda.float16:
            made.append(value.detach().half())
        else:
            watch = how()
            watch(value.detach())
            made.append(quantized_weight(value, watch))
    return _Packed(*made)


class _Weights:
    """What makes observers of weights; its dtype is asked once."""

    def __init__(self, mod: Any, name: str) -> None:
        how = getattr(mod, "qconfig", None)
        if not how:
            raise AssertionError(f"{name}.from_float: the input float module must have a qconfig")
        self._make = how.weight
        self.dtype = how.weight().dtype
        if self.dtype not in (taeda.qint8, taeda.float16):
            raise AssertionError(
                f"{name} wants a weight observer of qint8 or float16, but got {self.dtype}"
            )

    def __call__(self) -> Any:
        return self._make()


def _lstm(packed: _Packed, gates: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    hidden, cell = state
    i, f, g, o = (gates + packed.product(1, hidden)).chunk(4, 1)
    cell = f.sigmoid() * cell + i.sigmoid() * g.tanh()
    return o.sigmoid() * cell.tanh(), cell


def _gru(packed: _Packed, gates: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
    (hidden,) = state
    own = gates.chunk(3, 1)
    other = packed.product(1, hidden).chunk(3, 1)
    reset, update = (own[0] + other[0]).sigmoid(), (own[1] + other[1]).sigmoid()
    new = (own[2] + other[2] * reset).tanh()
    return ((hidden - new) * update + new,)


def _rnn(function: Callable[[Tensor], Tensor]) -> Any:
    def step(packed: _Packed, gates: Tensor, state: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (function(gates + packed.product(1, state[0])),)

    return step


class _Layers(HidesPacked):
    """Layers, directions and steps."""

    _hidden = ("_all_weight_values",)

    _step: Any
    _gates: int
    _states: int
    _kind: Any

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        dtype: Any = taeda.qint8,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.dtype, self.training = bidirectional, dtype, False
        if dtype not in (taeda.qint8, taeda.float16):
            raise RuntimeError(
                f"{type(self).__name__} has weights in qint8 or float16, not {dtype}"
            )
        empty = self._kind(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional
        )
        from .....quantization import qconfig  # late: it asks for these classes

        how = qconfig.float16_dynamic_qconfig
        empty.qconfig = qconfig.default_dynamic_qconfig if dtype is taeda.qint8 else how
        self._take(empty)

    def _take(self, mod: Any) -> None:
        weights = _Weights(mod, type(self).__name__)
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        ends = [
            f"_l{layer}{'_reverse' * way}"
            for layer in range(self.num_layers)
            for way in range(2 if self.bidirectional else 1)
        ]
        packed = [_pack(mod, tuple(name + end for name in names), weights) for end in ends]
        self._all_weight_values = nn.ModuleList(packed)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self) -> str:
        text = f"{self.input_size}, {self.hidden_size}"
        plain = {
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0.0,
            "bidirectional": False,
        }
        for name, value in plain.items():
            if getattr(self, name) != value:
                text += f", {name}={getattr(self, name)}"
        return text

    def get_weight(self) -> dict[str, Tensor]:
        """The weights in integers, by the names of the float layer."""
        return self._named(0, "weight")

    def get_bias(self) -> dict[str, Tensor]:
        """The biases in float32, by the names of the float layer."""
        return self._named(2, "bias")

    def _named(self, first: int, word: str) -> dict[str, Tensor]:
        ways, found = 2 if self.bidirectional else 1, {}
        for number, packed in enumerate(self._all_weight_values):
            end = f"_l{number // ways}{'_reverse' * (number % ways)}"
            for at, kind in enumerate(("ih", "hh")):
                if packed.parts[first + at] is not None:
                    found[f"{word}_{kind}{end}"] = packed.parts[first + at]
        return found

    def _run(
        self, packed: Any, x: Tensor, state: tuple[Tensor, ...], backward: bool
    ) -> tuple[Tensor, tuple[Tensor, ...]]:
        gates = list(packed.product(0, x).unbind(0))
        made = []
        for step in reversed(gates) if backward else gates:
            state = type(self)._step(packed, step, state)
            made.append(state[0])
        return taeda.stack(made[::-1] if backward else made), state

    def _forward(self, input: Tensor, states: Any) -> tuple[Tensor, tuple[Tensor, ...]]:
        if input.dim() != 3 or input.shape[2] != self.input_size:
            raise RuntimeError(
                f"{type(self).__name__} wants (length, samples, {self.input_size}), or samples first, "
                f"but got {tuple(input.shape)}"
            )
        x = input.transpose(0, 1) if self.batch_first else input
        ways = 2 if self.bidirectional else 1
        shape = (self.num_layers * ways, x.shape[1], self.hidden_size)
        if states is None:
            states = tuple(taeda.zeros(shape) for _ in range(self._states))
        if any(tuple(part.shape) != shape for part in states):
            raise RuntimeError(
                f"{type(self).__name__} wants states {shape}, but got {[tuple(p.shape) for p in states]}"
            )
        ends: list[tuple[Tensor, ...]] = []
        for layer in range(self.num_layers):
            made = []
            for way in range(ways):
                at = layer * ways + way
                start = tuple(part[at] for part in states)
                out, end = self._run(self._all_weight_values[at], x, start, way == 1)
                made.append(out)
                ends.append(end)
            x = made[0] if ways == 1 else taeda.cat(made, 2)
            if self.training and self.dropout and layer < self.num_layers - 1:
                x = nn.functional.dropout(x, self.dropout, True)
        last = tuple(taeda.stack(list(part)) for part in zip(*ends, strict=True))
        return (x.transpose(0, 1) if self.batch_first else x), last

    def _packed_forward(self, input: Any, states: Any) -> tuple[Any, tuple[Tensor, ...]]:
        if not isinstance(input, PackedSequence):
            return self._forward(input, states)
        if self.bidirectional or len(set(input.batch_sizes.tolist())) > 1:
            raise NotImplementedError(
                f"{type(self).__name__} takes packed sequences of one length, in one direction: pad them, or "
                "call it for each sequence"
            )
        padded, lengths = pad_packed_sequence(input, self.batch_first)
        made, last = self._forward(padded, states)
        return pack_padded_sequence(made, lengths, self.batch_first, enforce_sorted=False), last

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The layer of a float one with a `qconfig`.

        Args:
            mod: the layer
            use_precomputed_fake_quant: kept for callers

        AssertionError without a `qconfig`, for another class and for a weight observer of another dtype;
        NotImplementedError for projections.
        """
        if type(mod) is not cls._kind:
            raise AssertionError(
                f"{cls.__name__}.from_float wants {cls._kind.__name__}, but got {type(mod).__name__}"
            )
        if getattr(mod, "proj_size", 0):
            raise NotImplementedError(f"a dynamic {cls.__name__} has no projections: proj_size=0")
        dtype = _Weights(mod, cls.__name__).dtype
        made = cls(
            mod.input_size,
            mod.hidden_size,
            mod.num_layers,
            mod.bias,
            mod.batch_first,
            mod.dropout,
            mod.bidirectional,
            dtype,
        )
        made._take(mod)
        return made


_LAYERS = """`nn.{name}` on floats, with weights in qint8, or in float16.

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional: as in
            `nn.{name}` (defaults: num_layers 1, bias True, batch_first False, dropout 0.0,
            bidirectional False)
        dtype: of the weights: `qint8` or `float16`

    >>> layer = taeda.ao.nn.quantized.dynamic.{name}(3, 4)
    >>> results, last = layer(taeda.ones(5, 2, 3))
    >>> results.shape, layer.get_weight()["weight_ih_l0"].dtype
    (taeda.Size([5, 2, 4]), taeda.qint8)
    """


class LSTM(_Layers):
    __doc__ = _LAYERS.format(name="LSTM")
    _step, _gates, _states, _kind = staticmethod(_lstm), 4, 2, nn.LSTM

    def forward(self, input: Any, hx: tuple[Tensor, Tensor] | None = None) -> Any:
        """(results, (last hidden, last cell states)), as `nn.LSTM` has them."""
        return self._packed_forward(input, hx)


class GRU(_Layers):
    __doc__ = _LAYERS.format(name="GRU")
    _step, _gates, _states, _kind = staticmethod(_gru), 3, 1, nn.GRU

    def forward(self, input: Any, hx: Tensor | None = None) -> Any:
        """(results, last hidden states), as `nn.GRU` has them."""
        made, last = self._packed_forward(input, None if hx is None else (hx,))
        return made, last[0]


class _Cell(HidesPacked):
    """One step."""

    _hidden = ("_packed",)

    _gates: int
    _states: int
    _kind: Any

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, dtype: Any = taeda.qint8
    ) -> None:
        super().__init__()
        self._set(input_size, hidden_size, bias, dtype)

    def _set(
        self, input_size: int, hidden_size: int, bias: bool, dtype: Any, mod: Any = None
    ) -> None:
        from .....quantization import qconfig  # late: it asks for these classes

        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        self.weight_dtype = dtype
        if dtype not in (taeda.qint8, taeda.float16):
            raise RuntimeError(
                f"{type(self).__name__} has weights in qint8 or float16, not {dtype}"
            )
        if mod is None:
            mod = self._kind(input_size, hidden_size, bias=bias)
            how = qconfig.float16_dynamic_qconfig
            mod.qconfig = qconfig.default_dynamic_qconfig if dtype is taeda.qint8 else how
        names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
        self._packed = _pack(mod, names, _Weights(mod, type(self).__name__))

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"

    def extra_repr(self) -> str:
        return f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")

    def get_weight(self) -> dict[str, Tensor]:
        """The weights in integers, by the names of the float layer."""
        return {"weight_ih": self._packed.parts[0], "weight_hh": self._packed.parts[1]}

    def get_bias(self) -> dict[str, Tensor]:
        """The biases in float32, by the names of the float layer."""
        return {"bias_ih": self._packed.parts[2], "bias_hh": self._packed.parts[3]}

    def _next(self, step: Any, x: Tensor, state: tuple[Tensor, ...] | None) -> tuple[Tensor, ...]:
        if x.dim() != 2 or x.shape[1] != self.input_size:
            raise RuntimeError(
                f"{type(self).__name__} wants (samples, {self.input_size}), but got {tuple(x.shape)}"
            )
        if state is None:
            state = tuple(taeda.zeros(x.shape[0], self.hidden_size) for _ in range(self._states))
        if any(tuple(part.shape) != (x.shape[0], self.hidden_size) for part in state):
            raise RuntimeError(
                f"{type(self).__name__} wants states {(x.shape[0], self.hidden_size)}, but got "
                f"{[tuple(part.shape) for part in state]}"
            )
        made: tuple[Tensor, ...] = step(self._packed, self._packed.product(0, x), state)
        return made

    @classmethod
    def _made(cls, mod: Any) -> Self:
        return cls(mod.input_size, mod.hidden_size, mod.bias)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The step of a float one with a `qconfig`.

        Args:
            mod: the cell
            use_precomputed_fake_quant: kept for callers

        AssertionError without a `qconfig`, for another class and for a weight observer of another dtype.
        """
        if type(mod) is not cls._kind:
            raise AssertionError(
                f"{cls.__name__}.from_float wants {cls._kind.__name__}, but got {type(mod).__name__}"
            )
        dtype = _Weights(mod, cls.__name__).dtype
        made = cls._made(mod)
        made._set(mod.input_size, mod.hidden_size, mod.bias, dtype, mod)
        return made


_CELLS = """`nn.{name}` on floats, with weights in qint8, or in float16.

    Args:
        input_size, hidden_size: features of input and state
        bias: whether there are biases, in float32 (default: True){more}
        dtype: of the weights: `qint8` or `float16`

    >>> layer = taeda.ao.nn.quantized.dynamic.{name}(3, 4)
    >>> state = layer(taeda.ones(2, 3))
    >>> layer.get_weight()["weight_hh"].shape, layer.get_weight()["weight_hh"].dtype
    (taeda.Size([{rows}, 4]), taeda.qint8)
    """


class LSTMCell(_Cell):
    __doc__ = _CELLS.format(name="LSTMCell", more="", rows=16)
    _gates, _states, _kind = 4, 2, nn.LSTMCell

    def forward(self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None) -> tuple[Tensor, ...]:
        """(hidden state, cell state) (samples, hidden_size)."""
        return self._next(_lstm, input, hx)


class GRUCell(_Cell):
    __doc__ = _CELLS.format(name="GRUCell", more="", rows=12)
    _gates, _states, _kind = 3, 1, nn.GRUCell

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The state (samples, hidden_size)."""
        return self._next(_gru, input, None if hx is None else (hx,))[0]


class RNNCell(_Cell):
    __doc__ = _CELLS.format(name="RNNCell", more='\n        nonlinearity: "tanh" or "relu"', rows=4)
    _gates, _states, _kind = 1, 1, nn.RNNCell

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        dtype: Any = taeda.qint8,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"nonlinearity is 'tanh' or 'relu', but got {nonlinearity!r}")
        self.nonlinearity = nonlinearity

    @classmethod
    def _made(cls, mod: Any) -> Self:
        return cls(mod.input_size, mod.hidden_size, mod.bias, mod.nonlinearity)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """The state (samples, hidden_size)."""
        function = taeda.tanh if self.nonlinearity == "tanh" else taeda.relu
        return self._next(_rnn(function), input, None if hx is None else (hx,))[0]
