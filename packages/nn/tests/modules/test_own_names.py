"""Names that modules have for themselves do not meet those of classes that users derive from them."""

from __future__ import annotations

import pytest

import taeda
from taeda import nn

#: what modules of PyTorch have too, under these names; subclasses of libraries mean the same by them
THEIRS = set(
    """_apply _backward_hooks _backward_pre_hooks _buffers _call_impl _compiled_call_impl _forward_hooks
    _forward_hooks_always_called _forward_hooks_with_kwargs _forward_pre_hooks
    _forward_pre_hooks_with_kwargs _get_backward_hooks _get_backward_pre_hooks _get_name
    _is_full_backward_hook _load_from_state_dict _load_state_dict_post_hooks _load_state_dict_pre_hooks
    _maybe_warn_non_full_backward_hook _modules _named_members _non_persistent_buffers_set _parameters
    _register_load_state_dict_pre_hook _register_state_dict_hook _replicate_for_data_parallel
    _save_to_state_dict _slow_forward _state_dict_hooks _state_dict_pre_hooks _version _wrapped_call_impl
    _repr_html_ _hooked""".split()
)
LAYERS = [nn.Module, nn.Sequential, nn.ModuleList, nn.ModuleDict, nn.Linear, nn.Dropout, nn.Softmax,
    nn.MSELoss, nn.CrossEntropyLoss, nn.Conv1d, nn.Conv2d, nn.Conv3d, nn.ReLU, nn.LayerNorm]  # fmt: skip


@pytest.mark.parametrize("kind", LAYERS, ids=lambda kind: kind.__name__)
def test_private_names_are_marked_as_ours(kind):
    convolutions = {"_conv_forward", "_reversed_padding_repeated_twice"}
    sequences = {"_get_item_by_idx", "_get_abs_string_index", "_keys", "_copy_to_script_wrapper"}
    own = {name for name in dir(kind) if name[0] == "_" and not name.startswith(("__", "_taeda_"))}
    assert own <= THEIRS | convolutions | sequences


def test_a_class_may_call_its_methods_as_it_likes():
    short = "ready put cast run check persistent forget add_hook load_tensor to_kind options shapes"

    class Own(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)
            self.register_buffer("seen", taeda.zeros(1))

        def forward(self, x):
            return self.layer(x)

    for word in short.split():
        setattr(Own, f"_{word}", lambda self: 1 / 0)
    module = Own()
    module.child = nn.ReLU()
    module.register_forward_hook(lambda *args: None)
    assert module.double()(taeda.ones(1, 2, dtype=taeda.float64)).shape == (1, 2)
    assert module.load_state_dict(module.state_dict()).missing_keys == []
    del module.child
