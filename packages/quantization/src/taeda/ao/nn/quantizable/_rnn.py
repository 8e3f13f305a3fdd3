"""An LSTM of linear layers, sums and products that can be observed, one by one.

Sepp Hochreiter, Jürgen Schmidhuber: Long Short-Term Memory, 1997.
"""

from __future__ import annotations

from typing import Any, Self

import taeda
from taeda import Tensor, nn

from ..quantized.modules.functional_modules import FloatFunctional

__all__ = ["LSTM", "LSTMCell"]

States = tuple[Tensor, Tensor]


class LSTMCell(nn.Module):
    """A step of an LSTM.

    Args:
        input_dim, hidden_dim: features of input and state.
        bias: whether linear layers have one (default: True).
        device, dtype: of the weights (default: None).

    >>> cell = taeda.ao.nn.quantizable.LSTMCell(3, 4)
    >>> hidden, state = cell(taeda.ones(2, 3))
    >>> hidden.shape, state.shape
    (taeda.Size([2, 4]), taeda.Size([2, 4]))
    """

    _FLOAT_MODULE = nn.LSTMCell

    def __init__(
        self,
        input_dim: int,
        hidden_dim: int,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        place: dict[str, Any] = {"device": device, "dtype": dtype}
        self.input_size, self.hidden_size, self.bias = input_dim, hidden_dim, bias
        self.igates = nn.Linear(input_dim, 4 * hidden_dim, bias=bias, **place)
        self.hgates = nn.Linear(hidden_dim, 4 * hidden_dim, bias=bias, **place)
        self.gates = FloatFunctional()
        self.input_gate, self.forget_gate = nn.Sigmoid(), nn.Sigmoid()
        self.cell_gate, self.output_gate = nn.Tanh(), nn.Sigmoid()
        self.fgate_cx, self.igate_cgate = FloatFunctional(), FloatFunctional()
        self.fgate_cx_igate_cgate, self.ogate_cy = FloatFunctional(), FloatFunctional()
        self.cell_tanh = nn.Tanh()
        self.initial_hidden_state_qparams = (1.0, 0)
        self.initial_cell_state_qparams = (1.0, 0)

    def forward(self, x: Tensor, hidden: States | None = None) -> States:
        """(hidden state, cell state) after `x` (samples, input_dim), each (samples, hidden_dim)."""
        if hidden is None:
            hidden = self.initialize_hidden(x.shape[0], x.is_quantized)
        hx, cx = hidden
        gates = self.gates.add(self.igates(x), self.hgates(hx))
        i, f, c, o = gates.chunk(4, 1)
        i, f = self.input_gate(i), self.forget_gate(f)
        c, o = self.cell_gate(c), self.output_gate(o)
        kept, new = self.fgate_cx.mul(f, cx), self.igate_cgate.mul(i, c)
        cy = self.fgate_cx_igate_cgate.add(kept, new)
        return self.ogate_cy.mul(o, self.cell_tanh(cy)), cy

    def initialize_hidden(self, batch_size: int, is_quantized: bool = False) -> States:
        """Zeros (batch_size, hidden_dim), twice; in quint8 if `is_quantized`."""
        zeros = taeda.zeros(batch_size, self.hidden_size)
        if not is_quantized:
            return zeros, zeros
        facts = self.initial_hidden_state_qparams, self.initial_cell_state_qparams
        made: Any = tuple(taeda.quantize_per_tensor(zeros, *f, taeda.quint8) for f in facts)
        return made

    def _get_name(self) -> str:
        return "QuantizableLSTMCell"

    @classmethod
    def from_params(
        cls, wi: Tensor, wh: Tensor, bi: Tensor | None = None, bh: Tensor | None = None
    ) -> Self:
        """The step of weights (4 * hidden, features) and biases."""
        made = cls(wi.shape[1], wh.shape[1], bias=bi is not None)
        with taeda.no_grad():
            for layer, weight, bias in ((made.igates, wi, bi), (made.hgates, wh, bh)):
                layer.weight.copy_(weight)
                if bias is not None and layer.bias is not None:
                    layer.bias.copy_(bias)
        return made

    @classmethod
    def from_float(cls, other: Any, use_precomputed_fake_quant: bool = False) -> Self:
        """The step of an `nn.LSTMCell`. AssertionError for another class."""
        if type(other) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f"LSTMCell.from_float wants nn.LSTMCell, but got {type(other).__name__}"
            )
        made = cls.from_params(other.weight_ih, other.weight_hh, other.bias_ih, other.bias_hh)
        made.qconfig = getattr(other, "qconfig", None)
        made.train(other.training)
        for part in (made.igates, made.hgates):
            part.qconfig = made.qconfig
        return made


class _Direction(nn.Module):
    """One layer, in one direction."""

    def __init__(self, cell: LSTMCell, backward: bool) -> None:
        super().__init__()
        self.cell, self.backward = cell, backward

    def forward(self, x: Tensor, hidden: States | None) -> tuple[Tensor, States]:
        steps = list(x.unbind(0))
        made = []
        for step in reversed(steps) if self.backward else steps:
            hidden = self.cell(step, hidden)
            assert hidden is not None
            made.append(hidden[0])
        assert hidden is not None
        return taeda.stack(made[::-1] if self.backward else made), hidden


class LSTM(nn.Module):
    """An LSTM of linear layers, sums and products that can be observed.

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional: as in
            `nn.LSTM` (defaults: num_layers 1, bias True, batch_first False, dropout 0.0,
            bidirectional False).
        device, dtype: of the weights (default: None).

    `prepare` puts it in the place of an `nn.LSTM` with a `qconfig`. NotImplementedError for dropout while
    training: numbers that are dropped have no scale.

    >>> layer = taeda.ao.nn.quantizable.LSTM(3, 4)
    >>> results, (hidden, state) = layer(taeda.ones(5, 2, 3))
    >>> results.shape, hidden.shape
    (taeda.Size([5, 2, 4]), taeda.Size([1, 2, 4]))
    """

    _FLOAT_MODULE: Any = nn.LSTM

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.training = bidirectional, False
        if not 0 <= self.dropout <= 1:
            raise ValueError(f"dropout is a probability, but got {dropout}")
        ways = 2 if bidirectional else 1
        self.layers = nn.ModuleList()
        for layer in range(num_layers):
            size = input_size if layer == 0 else hidden_size * ways
            cells = [LSTMCell(size, hidden_size, bias, device, dtype) for _ in range(ways)]
            self.layers.append(nn.ModuleList(_Direction(c, n == 1) for n, c in enumerate(cells)))

    def forward(
        self, x: Tensor, hidden: States | None = None
    ) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        """(results, (last hidden, last cell states)) as `nn.LSTM`, of (length, samples, features)."""
        if self.training and self.dropout > 0 and self.num_layers > 1:
            raise NotImplementedError("a quantizable LSTM drops nothing: eval(), or dropout=0")
        x = x.transpose(0, 1) if self.batch_first else x
        ways = 2 if self.bidirectional else 1
        starts: list[Any] = [None] * (self.num_layers * ways)
        if hidden is not None:
            starts = list(zip(hidden[0].unbind(0), hidden[1].unbind(0), strict=True))
        ends: list[States] = []
        for number, directions in enumerate(self.layers):
            made = [
                direction(x, starts[number * ways + way])
                for way, direction in enumerate(directions)
            ]
            ends += [end for _, end in made]
            x = made[0][0] if ways == 1 else taeda.cat([out for out, _ in made], 2)
        last: Any = tuple(taeda.stack(list(part)) for part in zip(*ends, strict=True))
        return (x.transpose(0, 1) if self.batch_first else x), last

    def _get_name(self) -> str:
        return "QuantizableLSTM"

    @classmethod
    def from_float(cls, other: Any, qconfig: Any = None) -> Self:
        """The LSTM of an `nn.LSTM` with a `qconfig`.

        Args:
            other: the float LSTM, without projections.
            qconfig: how it is observed, if not as `other` says.

        AssertionError for another class, NotImplementedError for projections.
        """
        if not isinstance(other, cls._FLOAT_MODULE):
            raise AssertionError(f"LSTM.from_float wants nn.LSTM, but got {type(other).__name__}")
        if getattr(other, "proj_size", 0):
            raise NotImplementedError("a quantizable LSTM has no projections: proj_size=0")
        made = cls(
            other.input_size,
            other.hidden_size,
            other.num_layers,
            other.bias,
            other.batch_first,
            other.dropout,
            other.bidirectional,
        )
        made.qconfig = qconfig or getattr(other, "qconfig", None)
        for layer, directions in enumerate(made.layers):
            for way, direction in enumerate(directions):
                end = f"_l{layer}" + "_reverse" * way
                names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
                values: list[Any] = [getattr(other, name + end, None) for name in names]
                direction.cell = LSTMCell.from_params(*values)
        made.train(other.training)
        # as the model around it: parts are observed when it is prepared
        from ...quantization import prepare, prepare_qat  # late: they ask for this class

        made.eval()
        return (
            prepare_qat(made.train(), inplace=True)
            if other.training
            else prepare(made, inplace=True)
        )

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """NotImplementedError: `nn.quantized.LSTM.from_observed` makes integers of it."""
        raise NotImplementedError(
            "a quantizable LSTM is observed itself: nn.quantized.LSTM.from_observed makes integers of it"
        )
