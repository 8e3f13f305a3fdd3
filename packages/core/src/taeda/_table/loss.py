"""Losses. `reduction` is 0 for none, 1 for the mean, 2 for the sum."""

from __future__ import annotations

from ._row import op

NN = {"namespace": "nn", "variants": "function"}
TOP = {"variants": "function"}

# ---- between pairs of elements: the kernels ----
for _name, _extra, _doc in (
    ("mse_loss", "", "(x - target)²."),
    ("_l1_loss", "", "|x - target| of floating-point tensors."),
    ("smooth_l1_loss", ", float beta=1.0",
        "Half the square over beta where |x - target| < beta, else the distance less beta / 2."),
    ("huber_loss", ", float delta=1.0", ("Half the square where |x - target| <= delta, else delta "
                                        "times the distance less delta / 2.")),
    ("soft_margin_loss", "", "log(1 + exp(-target · x)), for targets 1 and -1."),
    ("_binary_cross_entropy", "", ("-(target · log x + (1 - target) · log(1 - x)), logarithms held "
                                  "above -100.")),
    ("_binary_cross_entropy_with_logits", "", "The same of sigmoid(x), stable for large x."),
):
    op(f"{_name}(Tensor self, Tensor target, int reduction=Mean{_extra}) -> Tensor", c=_name,
       device="any", **NN, autocast="float32", doc=_doc)
    op(f"{_name}_backward(Tensor grad_output, Tensor self, Tensor target, int "
       f"reduction{_extra.partition('=')[0]}) -> Tensor",
       c=f"{_name}_backward", device="any", **NN, doc=f"The gradient of {_name} by self.")

# ---- of class scores ----
CLASSES = "Tensor target, Tensor? weight, int reduction, int ignore_index"
op(f"nll_loss_forward(Tensor self, {CLASSES}) -> (Tensor output, Tensor total_weight)",
   c="nll_loss_forward", device="any", **NN,
   doc="-x[target] of log-probabilities [C], [N, C] or [N, C, ...], and the sum of the weights.")
op(f"nll_loss_backward(Tensor grad_output, Tensor self, {CLASSES}, Tensor total_weight) -> Tensor",
   c="nll_loss_backward",
   device="any", **NN, doc="The gradient of nll_loss_forward.")
op(f"_cross_entropy(Tensor self, {CLASSES}) -> (Tensor, Tensor, Tensor)", c="_cross_entropy",
   device="any", **NN,
   autocast="float32", doc="nll_loss of log_softmax, two numbers of every row for the gradient, "
                           "and the sum of the weights.")
op(f"_cross_entropy_backward(Tensor grad_output, Tensor self, {CLASSES}, Tensor statistics, Tensor "
   "total_weight) -> Tensor",
   c="_cross_entropy_backward", device="any", **NN, doc="The gradient of _cross_entropy, in one pass.")
for _name in ("nll_loss", "nll_loss_nd", "nll_loss2d"):
    op(f"{_name}(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int "
       "ignore_index=-100) -> Tensor",
       composite=True, **NN, autocast="float32", doc="The first result of nll_loss_forward.")
op("cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int "
   "ignore_index=-100, "
   "float label_smoothing=0.0) -> Tensor", composite=True, **NN,
   autocast="float32", doc="nll_loss of log_softmax; targets are classes, or probabilities in the "
                           "shape of self.")

# ---- margins between classes ----
op("_margin_loss(Tensor self, Tensor target, float margin=1.0) -> (Tensor loss, Tensor slope)",
   c="_margin_loss", device="any", **NN,
   doc="Sums over labels and other classes of max(0, margin - x[label] + x[class]), by the number of "
   "classes, and their slope by every score.")

# ---- alignments of sequences ----
op("_alignments(Tensor emitted, Tensor skips, Tensor states, Tensor steps, bool back=False) -> Tensor",
   c="_alignments", device="any", **NN,
   doc="Log-probability of being in a state after a step, (T, N, S), along all ways from the start, or "
   "from there to the end: on to the same state, to the next, or to the one after it where `skips` "
   "says so; of `states` states and `steps` steps of each sequence.")

# ---- written in other operations ----
op("l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", composite=True, **NN,
   autocast="float32", doc="|x - target|.")
op("binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> "
   "Tensor", composite=True, **NN,
   autocast="float32", doc="Cross entropy of probabilities with targets in [0, 1], times weights.")
op("binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? "
   "pos_weight=None, "
   "int reduction=Mean) -> Tensor", composite=True, **TOP,
   autocast="float32", doc="Cross entropy of sigmoid(x), times weights; pos_weight scales the positive part.")
op("kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor",
   composite=True, **TOP,
   autocast="float32", doc="target · (log target - x), where x are log-probabilities.")
op("poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int "
   "reduction) -> Tensor",
   composite=True, **TOP, autocast="float32",
   doc="exp(x) - target · x, or x - target · log(x + eps); full adds Stirling's term.")
op("hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> "
   "Tensor", composite=True, **TOP,
   autocast="float32", doc="x where the target is 1, max(0, margin - x) where it is -1.")
op("margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int "
   "reduction=Mean) -> Tensor",
   composite=True, **TOP, autocast="float32", doc="max(0, -target · (x1 - x2) + margin).")
op("cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int "
   "reduction=Mean) -> Tensor",
   composite=True, **TOP, autocast="float32",
   doc="1 - cos where the target is 1, max(0, cos - margin) where it is -1.")
op("triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float "
   "p=2, float eps=1e-06, "
   "bool swap=False, int reduction=Mean) -> Tensor", composite=True, **TOP,
   autocast="float32", doc="max(0, margin + |anchor - positive| - |anchor - negative|) of p-norms "
                           "over the last dimension.")
op("multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? "
   "weight=None, int reduction=Mean) -> Tensor",
   composite=True, **NN, autocast="float32",
   doc="Sums over wrong classes of max(0, margin - x[target] + x[class])**p, by the number of classes.")
op("multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor", composite=True, **NN,
   autocast="float32", doc="Sums over labels and other classes of max(0, 1 - x[label] + x[class]), "
                           "by the number of classes.")
