"""How layers that follow each other become one."""

from __future__ import annotations

from typing import Any

from taeda import nn

from ..nn import intrinsic as nni

__all__ = ["fuse_conv_bn", "fuse_conv_bn_relu", "fuse_linear_bn", "get_fuser_method"]

_NUMBERS = (1, 2, 3)


def _rank(conv: Any) -> int:
    return next(n for n in _NUMBERS if isinstance(conv, getattr(nn, f"Conv{n}d")))


def _same_mode(*layers: nn.Module) -> None:
    if len({layer.training for layer in layers}) != 1:
        raise AssertionError(
            "a convolution and its batch normalisation must both be in train mode or eval mode"
        )


def _check_norm(is_qat: bool, conv: Any, bn: Any) -> None:
    _same_mode(conv, bn)
    if is_qat != conv.training:
        word = (
            "fuse_modules_qat wants a model in train mode"
            if is_qat
            else "fuse_modules wants a model in eval mode"
        )
        raise AssertionError(f"{word}: call train() or eval() first")
    if is_qat and (
        bn.num_features != conv.out_channels or not bn.affine or not bn.track_running_stats
    ):
        raise AssertionError(
            "batch normalisation goes into a convolution with as many channels, with weights and running "
            "statistics"
        )


def fuse_conv_bn(is_qat: bool, conv: Any, bn: Any) -> Any:
    """A convolution and its batch normalisation as one.

    Args:
        is_qat: whether it will be trained for integers: both stay then.
        conv, bn: the layers, both in train mode if `is_qat`, else in eval mode.

    AssertionError for another mode.

    >>> conv, bn = nn.Conv2d(1, 2, 3).eval(), nn.BatchNorm2d(2).eval()
    >>> type(fuse_conv_bn(False, conv, bn)).__name__
    'Conv2d'
    >>> type(fuse_conv_bn(True, conv.train(), bn.train())).__name__
    'ConvBn2d'
    """
    _check_norm(is_qat, conv, bn)
    if is_qat:
        return getattr(nni, f"ConvBn{_rank(conv)}d")(conv, bn)
    return nn.utils.fuse_conv_bn_eval(conv, bn)


def fuse_conv_bn_relu(is_qat: bool, conv: Any, bn: Any, relu: Any) -> Any:
    """A convolution, its batch normalisation and ReLU as one.

    Args:
        is_qat: whether it will be trained for integers: all stay then.
        conv, bn, relu: the layers, as in `fuse_conv_bn`.

    AssertionError for another mode.

    >>> layers = nn.Conv2d(1, 2, 3).eval(), nn.BatchNorm2d(2).eval(), nn.ReLU().eval()
    >>> type(fuse_conv_bn_relu(False, *layers)).__name__
    'ConvReLU2d'
    """
    _check_norm(is_qat, conv, bn)
    if is_qat:
        return getattr(nni, f"ConvBnReLU{_rank(conv)}d")(conv, bn, relu)
    fused = nn.utils.fuse_conv_bn_eval(conv, bn)
    return getattr(nni, f"ConvReLU{_rank(conv)}d")(fused, relu)


def fuse_linear_bn(is_qat: bool, linear: Any, bn: Any) -> Any:
    """A linear layer and its batch normalisation as one, in eval mode.

    Args:
        is_qat: NotImplementedError if it is True: joined linear layers are not trained for
            integers.
        linear, bn: the layers.

    AssertionError in train mode.

    >>> linear, bn = nn.Linear(2, 3).eval(), nn.BatchNorm1d(3).eval()
    >>> one = fuse_linear_bn(False, linear, bn)
    >>> x = taeda.ones(4, 2)
    >>> bool((one(x) - bn(linear(x))).abs().max() < 1e-6)
    True
    """
    if is_qat:
        raise NotImplementedError(
            "a linear layer with batch normalisation is not trained for integers: join them in eval mode"
        )
    _check_norm(False, linear, bn)
    return nn.utils.fuse_linear_bn_eval(linear, bn)


def _joined(kind: Any) -> Any:
    def fuse(is_qat: bool, *layers: Any) -> Any:
        return kind(*layers)

    return fuse


def _transposed(is_qat: bool, conv: Any, bn: Any) -> Any:
    if is_qat:
        raise NotImplementedError(
            "a transposed convolution with batch normalisation is not trained for integers: join them in "
            "eval mode"
        )
    _check_norm(False, conv, bn)
    return nn.utils.fuse_conv_bn_eval(conv, bn, transpose=True)


_METHODS: dict[tuple[Any, ...], Any] = {
    **{(getattr(nn, f"Conv{n}d"), getattr(nn, f"BatchNorm{n}d")): fuse_conv_bn for n in _NUMBERS},
    **{
        (getattr(nn, f"Conv{n}d"), getattr(nn, f"BatchNorm{n}d"), nn.ReLU): fuse_conv_bn_relu
        for n in _NUMBERS
    },
    **{
        (getattr(nn, f"Conv{n}d"), nn.ReLU): _joined(getattr(nni, f"ConvReLU{n}d"))
        for n in _NUMBERS
    },
    **{
        (getattr(nn, f"ConvTranspose{n}d"), getattr(nn, f"BatchNorm{n}d")): _transposed
        for n in _NUMBERS
    },
    (nn.Linear, nn.BatchNorm1d): fuse_linear_bn,
    (nn.Linear, nn.ReLU): _joined(nni.LinearReLU),
    (nn.BatchNorm2d, nn.ReLU): _joined(nni.BNReLU2d),
    (nn.BatchNorm3d, nn.ReLU): _joined(nni.BNReLU3d),
}


def get_fuser_method(
    op_list: Any, additional_fuser_method_mapping: dict[tuple[Any, ...], Any] | None = None
) -> Any:
    """The function (is_qat, layers...) that joins layers of these classes.

    Args:
        op_list: the classes, in their order.
        additional_fuser_method_mapping: functions by tuples of classes, which win (default:
            None).

    NotImplementedError for classes that are not joined.

    >>> join = get_fuser_method([nn.Linear, nn.ReLU])
    >>> type(join(False, nn.Linear(2, 3), nn.ReLU())).__name__
    'LinearReLU'
    """
    table = {**_METHODS, **(additional_fuser_method_mapping or {})}
    kinds = tuple(op_list)
    if kinds not in table:
        known = (
            "Conv and BatchNorm, Conv (and BatchNorm) and ReLU, Linear and ReLU, BatchNorm and ReLU"
        )
        raise NotImplementedError(
            f"cannot fuse modules: {[kind.__name__ for kind in kinds]}; what is joined: {known}"
        )
    return table[kinds]
