// The smaller surface: torch::stable.
#include <torch/csrc/stable/library.h>
#include <torch/csrc/stable/ops.h>
#include <torch/csrc/stable/tensor.h>
#include <torch/headeronly/core/ScalarType.h>
#include <torch/headeronly/util/Exception.h>

using torch::stable::Tensor;

Tensor inverted(const Tensor &x)
{
    STD_TORCH_CHECK(x.scalar_type() == torch::headeronly::ScalarType::Float, "wanted Float, got ", x.scalar_type());
    Tensor in = torch::stable::contiguous(x), out = torch::stable::empty_like(in);
    const float *from = in.const_data_ptr<float>();
    float *to = out.mutable_data_ptr<float>();
    torch::stable::parallel_for(0, in.numel(), 1024, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; i++) to[i] = 1 / from[i];
    });
    return torch::stable::transpose(out, 0, 1);
}

STABLE_TORCH_LIBRARY_FRAGMENT(zoo, m) { m.def("inverted(Tensor x) -> Tensor"); }
STABLE_TORCH_LIBRARY_IMPL(zoo, CPU, m) { m.impl("inverted", TORCH_BOX(&inverted)); }
