"""Covariance, correlation, and histograms of several dimensions.
(`histc`, `bincount` are in sorting, moments in reduction.)
"""

from __future__ import annotations

from ._row import op

op("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
   composite=True,
   doc="Covariances of the rows; columns are observations, with frequencies and weights.")
op("corrcoef(Tensor self) -> Tensor", composite=True, doc="Correlation of the rows.")
BINS = "Tensor? weight=None, bool density=False"
op(f"histogram.bins_tensor(Tensor self, Tensor bins, *, {BINS}) -> (Tensor hist, Tensor bin_edges)",
   composite=True,
   variants="function method out",
   doc="How many elements lie between neighbouring edges; the last edge belongs to its bin.")
op(f"histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, {BINS}) -> (Tensor hist, "
   "Tensor bin_edges)",
   composite=True, variants="function method out", reads_value="sometimes",
   doc="How many elements lie in equally wide bins of a range.")
op("_histogramdd(Tensor self, Tensor[] edges, Tensor? weight=None) -> Tensor", c="_histogramdd",
   variants="function",
   doc="Sums of weights of points in the cells of a grid.")
