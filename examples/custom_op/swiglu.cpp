// swiglu.cpp - the same operator as swiglu.c over taeda/taeda.hpp: handles, exceptions and lambdas.
#include <cmath>
#include <tuple>

#include <taeda/taeda.hpp>

using taeda::Tensor;

namespace {

constexpr int64_t GRAIN = 4096;

void check(const Tensor &gate, const Tensor &up)
{
    TAEDA_CHECK_TYPE(gate.dtype() == up.dtype(), "the tensors differ in dtype: ", taeda::name_of(gate.dtype()), " and ", taeda::name_of(up.dtype()));
    TAEDA_CHECK_VALUE(gate.sizes() == up.sizes(), "the tensors differ in shape: ", shape_text(gate.sizes()), " and ", shape_text(up.sizes()));
}

Tensor swiglu(const Tensor &gate, const Tensor &up)
{
    check(gate, up);
    Tensor g = gate.contiguous(), u = up.contiguous(), out = taeda::empty_like(gate);
    taeda::dispatch_floating(gate, "swiglu", [&](auto zero) {
        using T = decltype(zero);
        const T *x = g.data<T>(), *y = u.data<T>();
        T *to = out.mutable_data<T>();
        taeda::parallel_for(0, g.numel(), GRAIN, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) to[i] = x[i] / (1 + std::exp(-x[i])) * y[i];
        });
    });
    return out;
}

std::tuple<Tensor, Tensor> swiglu_backward(const Tensor &grad, const Tensor &gate, const Tensor &up)
{
    Tensor d = grad.contiguous(), g = gate.contiguous(), u = up.contiguous();
    Tensor to_gate = taeda::empty_like(gate), to_up = taeda::empty_like(up);
    taeda::dispatch_floating(gate, "swiglu_backward", [&](auto zero) {
        using T = decltype(zero);
        const T *above = d.data<T>(), *x = g.data<T>(), *y = u.data<T>();
        T *a = to_gate.mutable_data<T>(), *b = to_up.mutable_data<T>();
        taeda::parallel_for(0, g.numel(), GRAIN, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++) {
                T s = 1 / (1 + std::exp(-x[i]));
                a[i] = above[i] * y[i] * s * (1 + x[i] * (1 - s));
                b[i] = above[i] * x[i] * s;
            }
        });
    });
    return {to_gate, to_up};
}

Tensor swiglu_meta(const Tensor &gate, const Tensor &up)
{
    check(gate, up);
    return taeda::empty_like(gate);
}
std::tuple<Tensor, Tensor> swiglu_backward_meta(const Tensor &, const Tensor &gate, const Tensor &up)
{
    return {taeda::empty_like(gate), taeda::empty_like(up)};
}

}

TAEDA_EXTENSION(m)
{
    m.def("swiglu(Tensor gate, Tensor up) -> Tensor", swiglu, "gate * sigmoid(gate) * up, elementwise.")
        .meta(swiglu_meta)
        .derivative("swiglu_backward");
    m.def("swiglu_backward(Tensor grad, Tensor gate, Tensor up) -> (Tensor, Tensor)", swiglu_backward).meta(swiglu_backward_meta);
}
