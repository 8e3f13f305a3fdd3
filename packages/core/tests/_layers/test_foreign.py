"""Objects of PyTorch itself are refused in a sentence; here by classes of the same names and modules."""

import sys

import pytest

import taeda
from taeda._layers.foreign import is_foreign, named, remark


def theirs(name, module="torch", **members):
    return type(name, (), {"__module__": module, **members})


class Asked:
    """As PyTorch's own tensors are: a tensor that would be asked, and know nothing of taeda."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))

    def __dlpack__(self):
        raise AssertionError("nobody reads it")


TENSOR = type("Tensor", (Asked,), {"__module__": "torch"})()
DTYPE = theirs("dtype", __str__=lambda self: "torch.float32")()
DEVICE = theirs("device", __str__=lambda self: "cuda:1")()
X = taeda.ones(2, 2)


@pytest.mark.parametrize(
    "call",
    [
        lambda: taeda.add(X, TENSOR), lambda: X.add(TENSOR), lambda: taeda.cat([X, TENSOR]),
        lambda: taeda.matmul(TENSOR, X), lambda: X.to(TENSOR), lambda: taeda.sin(TENSOR),
        lambda: taeda.where(X > 0, X, TENSOR), lambda: X.copy_(TENSOR),
        lambda: taeda.einsum("ij,jk->ik", X, TENSOR), lambda: X + TENSOR, lambda: TENSOR - X,
        lambda: X == TENSOR, lambda: TENSOR @ X, lambda: X**TENSOR,
    ],
)  # fmt: skip
def test_tensors_are_refused_and_a_way_is_named(call):
    with pytest.raises(TypeError, match=r"PyTorch itself.*taeda.from_dlpack\(x.detach\(\)\)"):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: X.to(DTYPE), lambda: taeda.ones(2, dtype=DTYPE), lambda: X.sum(dtype=DTYPE),
        lambda: taeda.set_default_dtype(DTYPE), lambda: taeda.set_autocast_dtype("cpu", DTYPE),
        lambda: taeda.zeros_like(X, dtype=DTYPE),
    ],
)  # fmt: skip
def test_dtypes_are_refused_and_ours_is_named(call):
    with pytest.raises(TypeError, match=r"torch.dtype.*write taeda.float32, import taeda"):
        call()


def test_type_of_a_tensor():
    with pytest.raises(ValueError, match=r"PyTorch itself.*write taeda.float32"):
        X.type(DTYPE)


@pytest.mark.parametrize("call", [lambda: X.to(DEVICE), lambda: taeda.ones(2, device=DEVICE)])
def test_devices_are_refused_and_ours_is_named(call):
    with pytest.raises(TypeError, match=r"write taeda.device\('cuda:1'\)"):
        call()


def test_modules_parameters_and_optimizers():
    nn, optim = pytest.importorskip("taeda.nn"), pytest.importorskip("taeda.optim")
    module = theirs("Linear", "torch.nn.modules.linear")()
    for call in (
        lambda: nn.Sequential(module), lambda: nn.Parameter(TENSOR),
        lambda: nn.Linear(2, 2).register_buffer("b", TENSOR), lambda: nn.Linear(2, 2)(TENSOR),
        lambda: setattr(nn.Linear(2, 2), "weight", TENSOR), lambda: optim.SGD([TENSOR], lr=0.1),
        lambda: nn.Linear(2, 2).to(DTYPE),
    ):  # fmt: skip
        with pytest.raises(TypeError, match="PyTorch itself"):
            call()
    with pytest.raises(RuntimeError, match="PyTorch itself"):
        nn.Linear(2, 2).load_state_dict({"weight": TENSOR, "bias": TENSOR})


def test_other_objects_are_named_as_before():
    assert named(3) == "int"
    assert remark([]) == ""
    assert not is_foreign(theirs("Tensor", "torchvision.tv_tensors")())
    assert not is_foreign(X)


def test_under_the_name_of_torch_nothing_is_foreign(monkeypatch):
    from types import ModuleType

    ours = ModuleType("torch")
    ours.__dict__["_taeda"] = taeda
    monkeypatch.setitem(sys.modules, "torch", ours)
    assert not is_foreign(DTYPE)
