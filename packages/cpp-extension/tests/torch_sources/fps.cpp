// Farthest points of each batch; operators run inside the body of the loop.
#include <torch/extension.h>

torch::Tensor farthest_points(torch::Tensor points, torch::Tensor ptr, int64_t count)
{
    const int64_t batches = ptr.numel() - 1;
    auto out = torch::empty({batches * count}, ptr.options());
    auto p = ptr.data_ptr<int64_t>();
    auto chosen = out.data_ptr<int64_t>();
    at::parallel_for(0, batches, 1, [&](int64_t begin, int64_t end) {
        for (int64_t b = begin; b < end; b++) {
            auto cloud = points.narrow(0, p[b], p[b + 1] - p[b]);
            auto distance = torch::full({cloud.size(0)}, std::numeric_limits<float>::max(), cloud.options());
            int64_t last = 0;
            for (int64_t k = 0; k < count; k++) {
                chosen[b * count + k] = p[b] + last;
                distance = torch::min(distance, (cloud - cloud[last]).pow(2).sum(1));
                last = distance.argmax().item<int64_t>();
            }
        }
    });
    return out.view({batches, count});
}

TORCH_LIBRARY_FRAGMENT(zoo, m) { m.def("farthest_points", torch::dispatch(c10::kCPU, &farthest_points)); }
