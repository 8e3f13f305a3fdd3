"""Work on lists of tensors in one call: optimizer steps, scaling, norms."""

from __future__ import annotations

from ._row import op

SCALING = "Tensor? grad_scale=None, Tensor? found_inf=None"


def step(schema: str, doc: str) -> None:
    """A row that steps all parameters; gradients are divided by grad_scale in place, found_inf
    leaves the step out. Without a grad_scale no write to gradients is counted.
    """
    op(schema, c=schema.split("(", 1)[0], device="any", variants="function", reads_value="sometimes", doc=doc)


step("_fused_sgd_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] momentum_buffer_list, *, "
     "float weight_decay,"
     " float momentum, float lr, float dampening, bool nesterov, bool maximize, bool "
     f"is_first_step, {SCALING}) -> ()",
     "One step of stochastic gradient descent for all parameters.")
ADAM = ("(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] exp_avgs, Tensor(d!)[] exp_avg_sqs,"
        " Tensor(e!)[] max_exp_avg_sqs, Tensor[] state_steps, *, float lr, float beta1, float "
        "beta2, float weight_decay,"
        f" float eps, bool amsgrad, bool maximize, {SCALING}) -> ()")
step(f"_fused_adam_{ADAM}", "One step of Adam for all parameters; the counters already count it.")
step(f"_fused_adamw_{ADAM}", "One step of Adam with decoupled weight decay for all parameters.")
step("_fused_adagrad_(Tensor(a!)[] self, Tensor(b!)[] grads, Tensor(c!)[] state_sums, Tensor[] "
     "state_steps, *, float lr,"
     f" float lr_decay, float weight_decay, float eps, bool maximize, {SCALING}) -> ()",
     "One step of Adagrad for all parameters.")

# ---- norms ----
op("_global_norm(Tensor[] self, float p=2) -> Tensor", c="_global_norm", device="any", variants="function",
   doc="The p-norm of all elements of all tensors.")
op("_flat_norms(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
   c="_flat_norms", device="any",
   variants="function", doc="The p-norm of each of floating-point tensors that no graph watches.")

# ---- one operation on every tensor ----
op("_flat_number_(Tensor(a!)[] self, float number, str operation) -> ()", c="_flat_number_",
   device="any", variants="function",
   doc="Multiply ('mul'), divide ('div') or add ('add') one number, in every floating-point tensor.")


def foreach(schema: str, doc: str, **columns: str) -> None:
    """A row that applies an operation tensor by tensor."""
    op(schema, composite=True, variants="function", doc=doc, **columns)


def foreach_tensor(name: str) -> None:
    """The rows with a tensor of no dimension for all."""
    word = name.removeprefix("_foreach_")
    foreach(f"{name}_.Tensor(Tensor(a!)[] self, Tensor other) -> ()",
            f"{word} with one 0-dim tensor, in place.")
    foreach(f"{name}.Tensor(Tensor[] self, Tensor other) -> Tensor[]", f"{word} with one 0-dim tensor.")


for _name in "_foreach_add _foreach_sub _foreach_mul _foreach_div _foreach_pow".split():
    _word = _name.removeprefix("_foreach_")
    _alpha = ", *, Scalar alpha=1" if _word in ("add", "sub") else ""
    _doc = f"{_word} on every tensor."
    if _word in ("mul", "div"):
        foreach_tensor(_name)  # before numbers: a tensor of no dimension is not read
    foreach(f"{_name}_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()", f"{_doc[:-1]}, in place.")
    foreach(f"{_name}_.List(Tensor(a!)[] self, Tensor[] other{_alpha}) -> ()",
            f"{_word} pair by pair, in place.")
    foreach(f"{_name}_.ScalarList(Tensor(a!)[] self, float[] scalars) -> ()",
            f"{_word} of each tensor and its number, in place.")
    foreach(f"{_name}.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]", _doc)
    foreach(f"{_name}.List(Tensor[] self, Tensor[] other{_alpha}) -> Tensor[]", f"{_word} pair by pair.")
    foreach(f"{_name}.ScalarList(Tensor[] self, float[] scalars) -> Tensor[]",
            f"{_word} of each tensor and its number.")
foreach_tensor("_foreach_add")
for _name, _doc in (("_foreach_maximum", "The larger"), ("_foreach_minimum", "The smaller"),
                    ("_foreach_clamp_min", "The larger"), ("_foreach_clamp_max", "The smaller")):  # fmt: skip
    foreach(f"{_name}_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
            f"{_doc} of each element and a number, in place.")
    foreach(f"{_name}_.List(Tensor(a!)[] self, Tensor[] other) -> ()", f"{_doc} pair by pair, in place.")
    foreach(f"{_name}_.ScalarList(Tensor(a!)[] self, float[] scalars) -> ()",
            f"{_doc} of each tensor's elements and its number, in place.")
    foreach(f"{_name}.Scalar(Tensor[] self, Scalar scalar) -> Tensor[]",
            f"{_doc} of each element and a number.")
    foreach(f"{_name}.List(Tensor[] self, Tensor[] other) -> Tensor[]", f"{_doc} pair by pair.")
    foreach(f"{_name}.ScalarList(Tensor[] self, float[] scalars) -> Tensor[]",
            f"{_doc} of each tensor's elements and its number.")
_UNARY = """
    _foreach_abs _foreach_acos _foreach_asin _foreach_atan _foreach_ceil _foreach_cos _foreach_cosh
    _foreach_erf _foreach_erfc _foreach_exp _foreach_expm1 _foreach_floor _foreach_frac
    _foreach_lgamma _foreach_log _foreach_log10 _foreach_log1p _foreach_log2 _foreach_neg
    _foreach_reciprocal _foreach_round _foreach_rsqrt _foreach_sigmoid _foreach_sign _foreach_sin
    _foreach_sinh _foreach_sqrt _foreach_square _foreach_tan _foreach_tanh _foreach_trunc
    _foreach_zero
"""
for _name in _UNARY.split():
    _word = _name.removeprefix("_foreach_")
    foreach(f"{_name}_(Tensor(a!)[] self) -> ()", f"{_word} of every tensor, in place.")
    if _word != "zero":
        foreach(f"{_name}(Tensor[] self) -> Tensor[]", f"{_word} of every tensor.")
for _name in "_foreach_addcmul _foreach_addcdiv".split():
    _word = _name.removeprefix("_foreach_")
    _lists = "Tensor[] tensor1, Tensor[] tensor2"
    foreach(f"{_name}_.Scalar(Tensor(a!)[] self, {_lists}, Scalar value=1) -> ()",
            f"{_word} triple by triple, in place.")
    foreach(f"{_name}_.ScalarList(Tensor(a!)[] self, {_lists}, float[] scalars) -> ()",
            f"{_word} triple by triple with a number each, in place.")
    foreach(f"{_name}.Scalar(Tensor[] self, {_lists}, Scalar value=1) -> Tensor[]",
            f"{_word} triple by triple.")
    foreach(f"{_name}.ScalarList(Tensor[] self, {_lists}, float[] scalars) -> Tensor[]",
            f"{_word} triple by triple with a number each.")
    foreach(f"{_name}_.Tensor(Tensor(a!)[] self, {_lists}, Tensor scalars) -> ()",
            f"{_word} triple by triple with an element each, in place.", reads_value="always")
    foreach(f"{_name}.Tensor(Tensor[] self, {_lists}, Tensor scalars) -> Tensor[]",
            f"{_word} triple by triple with an element each.", reads_value="always")
foreach("_foreach_norm.Scalar(Tensor[] self, Scalar ord=2, ScalarType? dtype=None) -> Tensor[]",
        "The p-norm of each tensor.")
foreach("_foreach_max(Tensor[] self) -> Tensor[]", "The largest element of every tensor.")
foreach("_foreach_pow.ScalarAndTensor(Scalar self, Tensor[] exponent) -> Tensor[]",
        "A number to the power of every tensor.")
foreach("_foreach_lerp_.List(Tensor(a!)[] self, Tensor[] tensors1, Tensor[] weights) -> ()",
        "Move towards other tensors by weights of theirs, in place.")
foreach("_foreach_lerp.List(Tensor[] self, Tensor[] tensors1, Tensor[] weights) -> Tensor[]",
        "Between pairs of tensors by weights of theirs.")
foreach("_foreach_lerp_.ScalarList(Tensor(a!)[] self, Tensor[] tensors1, float[] weight) -> ()",
        "Move towards other tensors by a number each, in place.")
foreach("_foreach_lerp.ScalarList(Tensor[] self, Tensor[] tensors1, float[] weight) -> Tensor[]",
        "Between pairs of tensors by a number each.")
foreach("_foreach_lerp_.Scalar(Tensor(a!)[] self, Tensor[] tensors1, Scalar weight) -> ()",
        "Move towards other tensors, in place.")
foreach("_foreach_lerp.Scalar(Tensor[] self, Tensor[] tensors1, Scalar weight) -> Tensor[]",
        "Between pairs of tensors.")
foreach("_foreach_copy_(Tensor(a!)[] self, Tensor[] src, bool non_blocking=False) -> ()",
        "Copy pair by pair.")
