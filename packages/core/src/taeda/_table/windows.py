"""Windows for spectra, in the form of the top level; `taeda.signal.windows` has more of them."""

from __future__ import annotations

from ._row import op

OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
for _name, _more, _doc in (
    ("bartlett_window", "", "A triangle."), ("blackman_window", "", "Three cosines: low side lobes."),
    ("hann_window", "", "A raised cosine."),
    ("hamming_window", ", float alpha=0.54, float beta=0.46", "A cosine on a pedestal: alpha - beta cos."),
    ("kaiser_window", ", float beta=12.0", "Most of the energy in the main lobe, by Bessel's i0."),
):  # fmt: skip
    op(f"{_name}(int window_length, bool periodic=True{_more}, *, {OPTIONS}) -> Tensor",
       composite=True, variants="function",
       tags="factory", doc=f"{_doc} Periodic ones leave out the last point of a window that is one longer.")
