"""States, hooks and parts of modules: what a program sees is what it sees in torch, errors by their type.

A case is a function of the library; its result is compared as text.
"""

from __future__ import annotations

from collections import OrderedDict

import pytest

torch = pytest.importorskip("torch")

import taeda  # noqa: E402 - after the check: without torch there is nothing to compare

pytestmark = pytest.mark.filterwarnings("ignore")


def tree(t):
    """Parameters of 1, 2, 3, ...; a buffer of each kind."""
    inner = t.nn.Sequential(t.nn.BatchNorm1d(3), t.nn.ReLU())
    parts = OrderedDict(a=t.nn.Linear(2, 3), b=inner, c=t.nn.Linear(3, 2, bias=False))
    module = t.nn.Sequential(parts)
    for i, parameter in enumerate(module.parameters()):
        t.nn.init.constant_(parameter, i + 1)
    return module


def facts(module):
    return [
        (n, v.tolist() if isinstance(v, type(module)) or hasattr(v, "tolist") else v,
            str(getattr(v, "dtype", "")))
        for n, v in module.state_dict().items()
    ]  # fmt: skip


def outcome(case, t):
    """The text of what a case gives; of an exception its type."""
    try:
        return repr(case(t)).replace("torch", "taeda")
    except Exception as error:  # noqa: BLE001 - an error is an outcome, and compared
        return type(error)


# ---- loading ----

# what is changed in the state, and the options of loading
LOADS = [
    (lambda t, s: None, {}),
    (lambda t, s: s.pop("a.weight"), {}),
    (lambda t, s: s.pop("a.weight"), {"strict": False}),
    (lambda t, s: s.update({"zz": t.ones(1), "b.0.x": t.ones(2)}), {}),
    (lambda t, s: s.update({"zz": t.ones(1), "b.0.x": t.ones(2)}), {"strict": False}),
    (lambda t, s: (s.pop("c.weight"), s.update(q=1)), {}),
    (lambda t, s: s.update({"a.weight": t.ones(3, 3)}), {}),
    (lambda t, s: s.update({"a.weight": t.ones(3, 3)}), {"strict": False}),
    (lambda t, s: s.update({"a.weight": [1, 2]}), {}),
    (lambda t, s: s.update({"a.weight": t.ones(3, 2, dtype=t.float64) * 7}), {}),
    (lambda t, s: s.update({"a.weight": t.ones(3, 2, dtype=t.float64) * 7}), {"assign": True}),
    (lambda t, s: s.update({"a.weight": t.nn.Parameter(t.ones(3, 2), requires_grad=False)}),
        {"assign": True}),
    (lambda t, s: s.update({"b.0.num_batches_tracked": t.tensor(5)}), {}),
    (lambda t, s: s.pop("b.0.num_batches_tracked"), {}),
    (lambda t, s: (s.pop("b.0.num_batches_tracked"), setattr(s, "_metadata", {})), {}),
    (lambda t, s: s.update({"b.0.running_mean": t.ones(4)}), {}),
    (lambda t, s: s.update({"a.bias": t.ones(3, device="meta")}), {}),
    (lambda t, s: s.update({"a.bias": t.ones(())}), {}),
    (lambda t, s: s.update({"a.bias": t.ones(1)}), {}),
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(LOADS)))
def test_loading(number):
    change, options = LOADS[number]

    def case(t):
        module = tree(t)
        state = module.state_dict()
        change(t, state)
        keys = module.load_state_dict(state, **options)
        grads = [(type(p).__name__, p.requires_grad) for p in module.parameters()]
        return keys, facts(module), grads

    assert outcome(case, taeda) == outcome(case, torch)


# ---- extra state, buffers, what is shared or not there yet ----


def extra(t):
    class Extra(t.nn.Module):
        def __init__(self):
            super().__init__()
            self.w, self.n = t.nn.Parameter(t.ones(2)), 3
            self.register_buffer("b", t.zeros(2))
            self.register_buffer("unsaved", t.zeros(2), persistent=False)
            self.register_buffer("no_buffer", None)
            self.register_parameter("no_parameter", None)

        def get_extra_state(self):
            return {"n": self.n}

        def set_extra_state(self, state):
            self.n = state["n"]

    return Extra()


def extra_comes_back(t):
    module = extra(t)
    state = module.state_dict()
    state["_extra_state"] = {"n": 9}
    return module.load_state_dict(state), module.n, list(state)


def extra_is_missing(t):
    module = extra(t)
    state = module.state_dict()
    del state["_extra_state"]
    return module.load_state_dict(state)


def extra_is_not_wanted(t):
    state = {"_extra_state": 1, "weight": t.ones(2, 2), "bias": t.ones(2)}
    return t.nn.Linear(2, 2).load_state_dict(state)


def unsaved_names_are_unexpected(t):
    module = extra(t)
    return module.load_state_dict({**module.state_dict(), "unsaved": t.ones(2)})


def shared(t):
    layer = t.nn.Linear(2, 2)
    module = t.nn.Sequential(layer, layer)
    state = module.state_dict()
    names = [n for n, _ in module.named_parameters(remove_duplicate=False)]
    return list(state), state["0.weight"].data_ptr() == state["1.weight"].data_ptr(), names


def lazy(t):
    module = t.nn.LazyLinear(3)
    before = [type(v).__name__ for v in module.state_dict().values()]
    return before, module.load_state_dict(t.nn.Linear(4, 3).state_dict()), module.weight.shape


def lazy_into_made(t):
    return t.nn.Linear(4, 3).load_state_dict(t.nn.LazyLinear(3).state_dict())


def meta_takes_only_by_assignment(t):
    module = tree(t).to("meta")
    module.load_state_dict(tree(t).state_dict(), assign=True)
    return [p.device.type for p in module.parameters()]


def into_a_given_dict(t):
    given = OrderedDict()
    made = tree(t).state_dict(destination=given, prefix="p.")
    return made is given, list(given), hasattr(made, "_metadata")


def metadata(t):
    return tree(t).state_dict()._metadata


def kept_variables(t):
    return [v.requires_grad for v in tree(t).state_dict(keep_vars=True).values()]


def parameter_list(t):
    module = t.nn.ParameterList([t.ones(2), t.nn.Parameter(t.zeros(1))])
    return module.load_state_dict({"0": t.ones(2) * 4, "1": t.ones(1)}), module[0].tolist()


def module_dict(t):
    module = t.nn.ModuleDict({"x": t.nn.ReLU(), "y": t.nn.Linear(1, 1)})
    module.update({"z": t.nn.Tanh()})
    return list(module.state_dict()), repr(module), module.pop("x"), list(module)


# ---- hooks ----


def order_of_state_hooks(t):
    log, module = [], tree(t)

    def name(m):
        return type(m).__name__

    for m in (module, module.a):
        m.register_state_dict_pre_hook(
            lambda m, prefix, keep: log.append(("before", name(m), prefix, keep))
        )
        m.register_state_dict_post_hook(
            lambda m, s, prefix, meta: log.append(("after", name(m), prefix, len(s), meta))
        )
        m.register_load_state_dict_pre_hook(
            lambda m, s, prefix, *rest: log.append(("load", name(m), prefix, rest[1:]))
        )
    module.register_load_state_dict_post_hook(
        lambda m, keys: log.append(("loaded", name(m), repr(keys)))
    )
    module.b.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.append("made up"))
    log.append(module.load_state_dict({**module.state_dict(), "k": 1}, strict=False))
    return log


def hooks_may_clear_what_is_wrong(t):
    def clear(module, keys):
        keys.missing_keys.clear()
        keys.unexpected_keys.clear()

    module = tree(t)
    module.register_load_state_dict_post_hook(clear)
    return module.load_state_dict({"q": 1})


def order_of_call_hooks(t):
    log, module = [], t.nn.Linear(2, 2)
    t.nn.init.ones_(module.weight)
    t.nn.init.zeros_(module.bias)
    module.register_forward_pre_hook(lambda m, a: log.append("twice") or (a[0] * 2,))
    module.register_forward_pre_hook(
        lambda m, a, k: log.append(("first", k)), with_kwargs=True, prepend=True
    )
    module.register_forward_hook(lambda m, a, o: log.append(o.tolist()) or o + 1)
    module.register_forward_hook(lambda m, a, k, o: log.append(o.tolist()), with_kwargs=True)
    removed = module.register_forward_hook(lambda m, a, o: log.append("early"), prepend=True)
    module.register_full_backward_pre_hook(lambda m, g: log.append([x.tolist() for x in g]))
    module.register_full_backward_hook(lambda m, i, o: log.append([x.tolist() for x in (*i, *o)]))
    x = t.ones(1, 2, requires_grad=True)
    module(x).sum().backward()
    removed.remove()
    module(x)
    return log, x.grad.tolist()


def pre_hook_with_a_wrong_result(t):
    module = t.nn.Linear(2, 2)
    module.register_forward_pre_hook(lambda m, a, k: 5, with_kwargs=True)
    return module(t.ones(1, 2))


# ---- registration and access ----


def before_init(t):
    class Early(t.nn.Module):
        def __init__(self):
            self.x = t.nn.Linear(1, 1)

    return Early()


def without_its_bias(t):
    module = t.nn.Linear(2, 2)
    del module.bias
    return list(module.state_dict()), module(t.ones(1, 2))


def replaced(t):
    module = tree(t)
    module.set_submodule("b.1", t.nn.Tanh())
    return repr(module)


CASES = [
    extra_comes_back, extra_is_missing, extra_is_not_wanted, unsaved_names_are_unexpected, shared,
    lazy, lazy_into_made,
    meta_takes_only_by_assignment, into_a_given_dict, metadata, kept_variables, parameter_list,
    module_dict, order_of_state_hooks,
    hooks_may_clear_what_is_wrong, order_of_call_hooks, pre_hook_with_a_wrong_result, before_init,
    without_its_bias, replaced,
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_case(case):
    assert outcome(case, taeda) == outcome(case, torch)


ONE = [
    "m.load_state_dict([1])", "m.load_state_dict(None)", "list(m.state_dict(prefix='x.'))",
    "m.to('meta').load_state_dict(m.state_dict())",
    ("t.nn.Module().register_buffer('a.b', "
    "t.ones(1))"), "t.nn.Module().register_buffer('', t.ones(1))", "m.a.register_buffer('weight', t.ones(1))",
    ("m.a.register_buffer('x', "
    "[1])"), "m.a.register_parameter('x', t.ones(1))", "setattr(m.a, 'weight', t.ones(1))",
    ("m.a.register_parameter('x', t.nn.Parameter(t.ones(1)) * "
    "2)"), "m.a.add_module('x', 3)", "m.a.add_module('forward', t.nn.ReLU())",
    "m.a.nothing", "m.get_parameter('x')", "m.get_submodule('b.5')", "m.get_submodule('a.weight')",
    "m.get_submodule('')",
    "m.get_parameter('b.0')", "m.get_buffer('b.0.weight')",
    "m.get_buffer('b.0.running_mean').tolist()", "m.set_submodule('', t.nn.Tanh())",
    ("m.set_submodule('b.7', t.nn.Tanh(), "
    "strict=True)"), "m.to(t.float64).state_dict()", "m.half().state_dict()", "m.to(t.int64)",
    "m.to_empty(device='meta').a.weight.device.type", "[n for n, _ in m.named_buffers()]",
    "[n for n, _ in m.named_children()]",
    "m.train('x')", "m.requires_grad_(False).a.weight.requires_grad",
    "[n for n, _ in m.named_modules(prefix='p')]",
]  # fmt: skip


@pytest.mark.parametrize("text", ONE)
def test_expression(text):
    def case(t):
        return eval(text, {"t": t, "m": tree(t)})

    assert outcome(case, taeda) == outcome(case, torch)
