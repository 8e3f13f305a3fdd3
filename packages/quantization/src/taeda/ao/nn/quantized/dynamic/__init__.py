"""Layers with weights in integers whose inputs are floats: those get the scale of their own range."""

from .modules.linear import Linear
from .modules.rnn import GRU, LSTM, GRUCell, LSTMCell, RNNCell

__all__ = ["GRU", "LSTM", "GRUCell", "LSTMCell", "Linear", "RNNCell"]
