// a * b + c with a shape for tensors without memory, one that writes its result, and one that changes it in place.
#include <torch/extension.h>

namespace muladd_ops {

at::Tensor muladd(const at::Tensor &a, const at::Tensor &b, double c)
{
    TORCH_CHECK(a.sizes() == b.sizes());
    TORCH_CHECK(a.dtype() == at::kFloat);
    TORCH_INTERNAL_ASSERT(a.device().type() == at::DeviceType::CPU);
    at::Tensor x = a.contiguous(), y = b.contiguous(), result = torch::empty(x.sizes(), x.options());
    const float *p = x.data_ptr<float>(), *q = y.data_ptr<float>();
    float *r = result.data_ptr<float>();
    for (int64_t i = 0; i < result.numel(); i++) r[i] = float(p[i] * q[i] + c);
    return result;
}
at::Tensor muladd_shape(const at::Tensor &a, const at::Tensor &, double) { return at::empty_like(a); }

void add_out(const at::Tensor &a, const at::Tensor &b, at::Tensor &out)
{
    TORCH_CHECK(out.is_contiguous());
    out.copy_(a + b);
}
at::Tensor &double_(at::Tensor &x) { return x.mul_(2); }

TORCH_LIBRARY_FRAGMENT(zoo, m)
{
    m.def("muladd(Tensor a, Tensor b, float c) -> Tensor", {at::Tag::pt2_compliant_tag});
    m.def("add_out(Tensor a, Tensor b, Tensor(a!) out) -> ()");
    m.def("double_(Tensor(a!) x) -> Tensor(a!)");
}
TORCH_LIBRARY_IMPL(zoo, CPU, m)
{
    m.impl("muladd", &muladd);
    m.impl("add_out", &add_out);
    m.impl("double_", &double_);
}
TORCH_LIBRARY_IMPL(zoo, Meta, m) { m.impl("muladd", &muladd_shape); }

}
