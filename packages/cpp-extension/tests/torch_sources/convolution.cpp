// A causal convolution of each channel, and the correlation of two pictures over displacements.
#include <torch/extension.h>

torch::Tensor causal_conv1d(torch::Tensor x, torch::Tensor weight, c10::optional<torch::Tensor> bias)
{
    const auto batch = x.size(0), channels = x.size(1), length = x.size(2), width = weight.size(1);
    auto out = torch::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::ScalarType::Half, at::ScalarType::BFloat16, x.scalar_type(), "causal_conv1d", [&] {
        auto in = x.accessor<scalar_t, 3>();
        auto o = out.accessor<scalar_t, 3>();
        auto w = weight.accessor<scalar_t, 2>();
        const scalar_t *b0 = bias ? bias->data_ptr<scalar_t>() : nullptr;
        at::parallel_for(0, batch * channels, 1, [&](int64_t begin, int64_t end) {
            for (int64_t i = begin; i < end; i++)
                for (int64_t t = 0; t < length; t++) {
                    float sum = b0 ? float(b0[i % channels]) : 0.0f;
                    for (int64_t k = std::max<int64_t>(0, width - 1 - t); k < width; k++) sum += float(in[i / channels][i % channels][t + k - width + 1]) * float(w[i % channels][k]);
                    o[i / channels][i % channels][t] = scalar_t(sum);
                }
        });
    });
    return out;
}

// [batch, (2 reach + 1)^2, height, width]
torch::Tensor correlation(torch::Tensor a, torch::Tensor b, int reach)
{
    const int side = 2 * reach + 1;
    auto out = a.new_zeros({a.size(0), side * side, a.size(2), a.size(3)});
    AT_DISPATCH_FLOATING_TYPES(a.scalar_type(), "correlation", ([&] {
                                   auto p = a.packed_accessor64<scalar_t, 4>(), q = b.packed_accessor64<scalar_t, 4>();
                                   torch::PackedTensorAccessor64<scalar_t, 4> o = out.packed_accessor64<scalar_t, 4>();
                                   for (int64_t n = 0; n < a.size(0); n++)
                                       for (int d = 0; d < side * side; d++)
                                           for (int64_t y = 0; y < a.size(2); y++)
                                               for (int64_t x = 0; x < a.size(3); x++) {
                                                   int64_t v = y + d / side - reach, u = x + d % side - reach;
                                                   if (v < 0 || u < 0 || v >= a.size(2) || u >= a.size(3)) continue;
                                                   for (int64_t c = 0; c < a.size(1); c++) o[n][d][y][x] += p[n][c][y][x] * q[n][c][v][u];
                                               }
                               }));
    return out;
}

TORCH_LIBRARY_FRAGMENT(zoo, m)
{
    m.def("causal_conv1d(Tensor x, Tensor weight, Tensor? bias=None) -> Tensor", &causal_conv1d);
    m.def("correlation(Tensor a, Tensor b, int reach) -> Tensor", &correlation);
}
