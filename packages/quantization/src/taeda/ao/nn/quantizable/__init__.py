"""Layers of layers that can be observed: an LSTM and attention written with linear layers."""

from ._attention import MultiheadAttention
from ._rnn import LSTM, LSTMCell

__all__ = ["LSTM", "LSTMCell", "MultiheadAttention"]
