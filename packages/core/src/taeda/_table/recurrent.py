"""Recurrent layers: all steps of one layer and direction in one operation."""

from __future__ import annotations

from ._row import op

op("_lstm(Tensor share, Tensor hidden, Tensor cell, Tensor weight, bool reverse) -> (Tensor "
   "output, Tensor last_cell, Tensor cells, "
   "Tensor gates)", c="_lstm", device="any", variants="function", namespace="nn",
   doc="The steps of an LSTM, given the inputs' share of the gates [T, N, 4 * H], first states and "
       "the hidden weight.")
op("_lstm_backward(Tensor grad_output, Tensor grad_cell, Tensor cell, Tensor weight, Tensor cells, "
   "Tensor gates, bool reverse) -> "
   "(Tensor, Tensor, Tensor)", c="_lstm_backward", device="any", variants="function", namespace="nn",
   doc="Gradients of share, hidden and cell.")
op("_gru(Tensor share, Tensor hidden, Tensor weight, Tensor? bias, bool reverse) -> (Tensor "
   "output, Tensor gates)", c="_gru", device="any",
   variants="function", namespace="nn",
   doc="The steps of a GRU, given the inputs' share of the gates [T, N, 3 * H], the first state, "
       "and weight and last gate's bias of the state.")
op("_gru_backward(Tensor grad_output, Tensor hidden, Tensor weight, Tensor output, Tensor gates, "
   "bool reverse) -> "
   "(Tensor, Tensor, Tensor)", c="_gru_backward", device="any", variants="function", namespace="nn",
   doc="Gradients of share, of the products with the weight, and of hidden.")
op("_rnn(Tensor share, Tensor hidden, Tensor weight, bool relu, bool reverse) -> Tensor", c="_rnn",
   device="any", variants="function", namespace="nn",
   doc="The steps of h' = tanh or relu(share + W h), given the inputs' share [T, N, H] and the first state.")
op("_rnn_backward(Tensor grad_output, Tensor weight, Tensor output, bool relu, bool reverse) -> "
   "(Tensor, Tensor)", c="_rnn_backward", device="any",
   variants="function", namespace="nn", doc="Gradients of share and hidden.")
