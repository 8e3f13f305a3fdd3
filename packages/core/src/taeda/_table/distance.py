"""Distances between rows, and rows brought within a distance."""

from __future__ import annotations

from ._row import op

op("cdist(Tensor x1, Tensor x2, float p=2, str? compute_mode=None) -> Tensor", composite=True,
   variants="function",
   autocast="float32", doc="The p-norm of the difference of every row of x1 and every row of x2; "
                           "dimensions before the last two broadcast.")
op("_euclidean_dist(Tensor x1, Tensor x2) -> Tensor", python=True, device="any", variants="function",
   doc="cdist for p = 2 without a tensor of differences: squares and one product.")
op("_row_distances(Tensor x1, Tensor x2, float p) -> Tensor", c="_row_distances", device="any",
   variants="function",
   doc="The p-norm of the difference of every row of x1, (..., P, M), and every row of x2, (..., R, M): "
       "(..., P, R), in float32 or float64.")
op("_row_distances_backward(Tensor grad, Tensor x1, Tensor x2, float p, Tensor distance) -> Tensor",
   c="_row_distances_backward", device="any", variants="function",
   doc="The gradient of x1 in _row_distances; of several largest differences each gets all of it.")
op("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor", composite=True,
   variants="function method inplace out",
   doc="Slices along a dimension, scaled down where their p-norm exceeds maxnorm.")
