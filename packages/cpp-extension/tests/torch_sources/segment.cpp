// Means of runs of rows, which a pointer delimits.
#include <ATen/Parallel.h>
#include <torch/torch.h>

at::Tensor segment_mean(const at::Tensor &src, const at::Tensor &ptr)
{
    AT_ASSERTM(ptr.dim() == 1, "ptr must be one-dimensional");
    auto x = src.contiguous();
    auto out = at::empty({ptr.numel() - 1, x.size(1)}, x.options());
    const int64_t *p = ptr.const_data_ptr<int64_t>();
    const int64_t width = x.size(1);
    AT_DISPATCH_FLOATING_TYPES_AND_HALF(x.scalar_type(), "segment_mean", [&] {
        using wide = at::opmath_type<scalar_t>;
        const scalar_t *from = x.const_data_ptr<scalar_t>();
        scalar_t *to = out.mutable_data_ptr<scalar_t>();
        at::parallel_for(0, ptr.numel() - 1, 1, [&](int64_t begin, int64_t end) {
            for (const auto n : c10::irange(begin, end))
                for (int64_t j = 0; j < width; j++) {
                    wide sum = 0;
                    for (int64_t r = p[n]; r < p[n + 1]; r++) sum += wide(from[r * width + j]);
                    to[n * width + j] = scalar_t(sum / wide(std::max<int64_t>(p[n + 1] - p[n], 1)));
                }
        });
    });
    return out;
}

TORCH_LIBRARY_FRAGMENT(zoo, m) { m.def("segment_mean(Tensor src, Tensor ptr) -> Tensor", segment_mean); }
