// Boxes that stay when the ones they overlap are dropped; areas that rotated boxes share.
#include <torch/extension.h>

torch::Tensor nms(const torch::Tensor &boxes, const torch::Tensor &scores, double threshold)
{
    TORCH_CHECK(boxes.dim() == 2 && boxes.size(1) == 4, "boxes should be a [n, 4] tensor, got ", boxes.sizes());
    TORCH_CHECK(boxes.size(0) == scores.size(0), "as many boxes as scores: ", boxes.size(0), " and ", scores.size(0));
    auto x1 = boxes.select(1, 0).contiguous(), y1 = boxes.select(1, 1).contiguous(), x2 = boxes.select(1, 2).contiguous(), y2 = boxes.select(1, 3).contiguous();
    auto areas = (x2 - x1) * (y2 - y1);
    auto order = std::get<1>(scores.sort(/*stable=*/true, /*dim=*/0, /*descending=*/true));
    auto gone = torch::zeros({boxes.size(0)}, boxes.options().dtype(torch::kByte));
    auto keep = torch::zeros({boxes.size(0)}, order.options());
    int64_t count = 0;
    AT_DISPATCH_FLOATING_TYPES(boxes.scalar_type(), "nms", [&] {
        auto a = x1.data_ptr<scalar_t>(), b = y1.data_ptr<scalar_t>(), c = x2.data_ptr<scalar_t>(), d = y2.data_ptr<scalar_t>(), area = areas.data_ptr<scalar_t>();
        auto o = order.data_ptr<int64_t>();
        auto dead = gone.data_ptr<uint8_t>();
        for (int64_t i = 0; i < boxes.size(0); i++) {
            int64_t p = o[i];
            if (dead[p]) continue;
            keep.data_ptr<int64_t>()[count++] = p;
            for (int64_t j = i + 1; j < boxes.size(0); j++) {
                int64_t q = o[j];
                scalar_t w = std::max(scalar_t(0), std::min(c[p], c[q]) - std::max(a[p], a[q])), h = std::max(scalar_t(0), std::min(d[p], d[q]) - std::max(b[p], b[q]));
                if (w * h > threshold * (area[p] + area[q] - w * h)) dead[q] = 1;
            }
        }
    });
    return keep.narrow(0, 0, count);
}

using Polygon = std::vector<std::pair<double, double>>;
static Polygon corners(at::TensorAccessor<double, 1> box)
{
    Polygon made;
    double c = std::cos(box[4]), s = std::sin(box[4]);
    for (auto [u, v] : Polygon{{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}})
        made.emplace_back(box[0] + u * box[2] * c - v * box[3] * s, box[1] + u * box[2] * s + v * box[3] * c);
    return made;
}
static double area_of(const Polygon &p)
{
    double sum = 0;
    for (size_t i = 0; i < p.size(); i++) sum += p[i].first * p[(i + 1) % p.size()].second - p[(i + 1) % p.size()].first * p[i].second;
    return std::abs(sum) / 2;
}
static Polygon clipped(Polygon shape, const Polygon &by)
{
    for (size_t e = 0; e < by.size(); e++) {
        auto [ax, ay] = by[e];
        auto [bx, by_] = by[(e + 1) % by.size()];
        auto side = [&, ax = ax, ay = ay, bx = bx, by_ = by_](std::pair<double, double> p) { return (bx - ax) * (p.second - ay) - (by_ - ay) * (p.first - ax); };
        Polygon next;
        for (size_t i = 0; i < shape.size(); i++) {
            auto p = shape[i], q = shape[(i + 1) % shape.size()];
            double s = side(p), t = side(q);
            if (s >= 0) next.push_back(p);
            if ((s < 0) != (t < 0)) next.emplace_back(p.first + (q.first - p.first) * s / (s - t), p.second + (q.second - p.second) * s / (s - t));
        }
        shape = next;
    }
    return shape;
}
at::Tensor rotated_iou(const at::Tensor &a, const at::Tensor &b)
{
    auto x = a.to(at::kDouble).contiguous(), y = b.to(at::kDouble).contiguous();
    auto out = at::zeros({a.size(0), b.size(0)}, x.options());
    auto p = x.accessor<double, 2>(), q = y.accessor<double, 2>(), o = out.accessor<double, 2>();
    for (int64_t i = 0; i < a.size(0); i++)
        for (int64_t j = 0; j < b.size(0); j++) {
            Polygon one = corners(p[i]), two = corners(q[j]);
            double both = area_of(clipped(one, two));
            o[i][j] = both / (area_of(one) + area_of(two) - both);
        }
    return out.to(a.scalar_type());
}

TORCH_LIBRARY_FRAGMENT(zoo, m)
{
    m.def(TORCH_SELECTIVE_SCHEMA("zoo::nms(Tensor boxes, Tensor scores, float threshold) -> Tensor"));
    m.def("rotated_iou(Tensor a, Tensor b) -> Tensor");
}
TORCH_LIBRARY_IMPL(zoo, CPU, m)
{
    m.impl(TORCH_SELECTIVE_NAME("zoo::nms"), TORCH_FN(nms));
    m.impl("rotated_iou", rotated_iou);
}
