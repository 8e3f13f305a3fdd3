"""Recurrent layers: all steps of one layer and direction in one operation."""

from __future__ import annotations

from ._table import op

op("_lstm(Tensor share, Tensor hidden, Tensor cell, Tensor weight, bool reverse) -> (Tensor output, Tensor last_cell, Tensor cells, "
   "Tensor gates)", c="_lstm", variants="function", namespace="nn",
   doc="The steps of an LSTM, given the inputs' share of the gates [T, N, 4 * H], first states and the hidden weight.")
op("_lstm_backward(Tensor grad_output, Tensor grad_cell, Tensor cell, Tensor weight, Tensor cells, Tensor gates, bool reverse) -> "
   "(Tensor, Tensor, Tensor)", c="_lstm_backward", variants="function", namespace="nn",
   doc="Gradients of share, hidden and cell.")
