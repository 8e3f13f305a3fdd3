"""An LSTM whose steps are computed on integers: what `convert` makes of `nn.quantizable.LSTM`."""

from __future__ import annotations

from typing import Any

from ...quantizable import _rnn

__all__ = ["LSTM"]


class LSTM(_rnn.LSTM):
    """`nn.quantizable.LSTM` after `convert`. It is made by `from_observed`.

    Args:
        input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional: as in
            `nn.LSTM` (defaults: num_layers 1, bias True, batch_first False, dropout 0.0,
            bidirectional False).
        device, dtype: of the weights before they become integers (default: None).

    >>> model = taeda.nn.Sequential(taeda.nn.LSTM(2, 3)).eval()
    >>> model.qconfig = taeda.ao.quantization.default_qconfig
    >>> ready = taeda.ao.quantization.prepare(model)
    >>> _ = ready(taeda.ones(4, 1, 2))
    >>> type(taeda.ao.quantization.convert(ready)[0]) is LSTM
    True
    """

    def _get_name(self) -> str:
        return "QuantizedLSTM"

    @classmethod
    def from_float(cls, *args: Any, **kwargs: Any) -> Any:
        """NotImplementedError: `prepare` makes a quantizable LSTM first."""
        raise NotImplementedError(
            "a quantized LSTM is made of an observed one: prepare(), examples, convert()"
        )

    @classmethod
    def from_observed(cls, other: Any) -> Any:
        """The LSTM of an observed `nn.quantizable.LSTM`. AssertionError for another class."""
        if not isinstance(other, _rnn.LSTM):
            raise AssertionError(
                f"LSTM.from_observed wants nn.quantizable.LSTM, but got {type(other).__name__}"
            )
        from ....quantization import convert  # late: it asks for this class

        made = convert(other, inplace=False, remove_qconfig=True)
        made.__class__ = cls
        return made
