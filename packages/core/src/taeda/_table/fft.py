"""Discrete Fourier transforms."""

from __future__ import annotations

from ._row import op

# ---- kernels; normalization: 0 none, 1 by the root of the number of points, 2 by the number ----
op("_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor", c="_fft_c2c",
   variants="function",
   doc="Complex to complex.")
op("_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", c="_fft_r2c",
   variants="function",
   doc="Real to complex; onesided keeps the half of the last dimension that is not redundant.")
op("_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor", c="_fft_c2r",
   variants="function",
   doc="Half of a symmetric spectrum to real, unsigned exponent.")

# ---- the public transforms ----
FORMS = {"composite": True, "variants": "function out", "namespace": "fft"}
for _name, _doc in (
    ("fft", "Spectrum of a signal"), ("ifft", "Signal of a spectrum"),
    ("rfft", "Half spectrum of a real signal"),
    ("irfft", "Real signal of a half spectrum"), ("hfft", "Real spectrum of half a symmetric signal"),
    ("ihfft", "Half a symmetric signal of a real spectrum"),
):  # fmt: skip
    _several = "" if _name in ("hfft", "ihfft") else "float32"
    op(f"{_name}(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor", **FORMS,
       autocast="float32", doc=f"{_doc}, along one dimension cut or padded to n.")
    op(f"{_name}2(Tensor self, int[1]? s=None, int[1] dim=[-2,-1], str? norm=None) -> Tensor", **FORMS,
       autocast=_several, doc=f"{_doc}, over two dimensions.")
    op(f"{_name}n(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", **FORMS,
       autocast=_several, doc=f"{_doc}, over several dimensions.")
for _name, _doc in (("fftshift", "The zero frequency into the middle."), ("ifftshift", "Undo fftshift.")):
    op(f"{_name}(Tensor self, int[1]? dim=None) -> Tensor", composite=True, variants="function",
       namespace="fft", doc=_doc)

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
for _name, _points in (("fftfreq", "n points of fft"), ("rfftfreq", "n // 2 + 1 points of rfft")):
    op(f"{_name}(int n, float d=1.0, *, {OPTIONS}) -> Tensor", **FORMS, tags="factory",
       doc=f"The frequencies of the {_points}, for samples at distances d.")

# ---- short times ----
op("stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
   "bool center=True, "
   "str pad_mode='reflect', bool normalized=False, bool? onesided=None, bool? return_complex=None, "
   "bool? align_to_window=None) -> Tensor", composite=True, autocast="float32",
   doc="Spectra of overlapping pieces of a signal.")
op("istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
   "bool center=True, "
   "bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> "
   "Tensor", composite=True,
   doc="The signal whose pieces have these spectra.")
