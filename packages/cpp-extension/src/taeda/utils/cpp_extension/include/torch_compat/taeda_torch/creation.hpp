/* taeda_torch/creation.hpp - new tensors, and copies in another form. */
#ifndef TAEDA_TORCH_CREATION_HPP
#define TAEDA_TORCH_CREATION_HPP
#include "taeda_torch/functions.hpp"

namespace at TAEDA_HIDDEN {

namespace detail {
TAEDA_RARE inline void check_options(const TensorOptions &options)
{
    if (options.requires_grad())
        throw NotImplementedError("requires_grad(true): what C++ computes records no derivative "
                                  "here; set it in Python, or write a torch::autograd::Function");
    if (options.pinned_memory())
        throw NotImplementedError(
            "pinned_memory(true): the binary interface makes no pinned tensors");
}
}

inline Tensor empty(IntArrayRef size, const TensorOptions &options = {},
                    std::optional<MemoryFormat> format = nullopt)
{
    if (options.requires_grad() || options.pinned_memory()) detail::check_options(options);
    if (!format) format = options.memory_format_opt();
    taeda::DType type = detail::dtype_of(options.type());
    taeda::Device device = detail::device_of(options.device());
    if (!format || *format == MemoryFormat::Contiguous || *format == MemoryFormat::Preserve)
        return Tensor(taeda::empty(size.data(), int32_t(size.size()), type, device));
    taeda_tensor *made;
    taeda_error error{};
    taeda::detail::check(taeda::api().empty_format(type, device.number(), int32_t(size.size()),
                                                   size.data(), int32_t(*format), &made, &error),
                         error);
    return Tensor(taeda::Tensor::adopt(made));
}
inline Tensor zeros(IntArrayRef size, const TensorOptions &options = {})
{
    return Tensor(taeda::zeroed(empty(size, options).handle()));
}
inline Tensor full(IntArrayRef size, const Scalar &value, const TensorOptions &options = {})
{
    ScalarType usual = value.isBoolean()         ? kBool
                       : value.isIntegral(false) ? kLong
                       : value.isComplex()       ? kComplexFloat
                                                 : options.type();
    Tensor x = empty(size, options.has_dtype() ? options : options.dtype(usual));
    return x.fill_(value);
}
inline Tensor ones(IntArrayRef size, const TensorOptions &options = {})
{
    return full(size, 1, options.dtype(options.type()));
}
inline Tensor empty_strided(IntArrayRef size, IntArrayRef stride, const TensorOptions &options = {})
{
    detail::check_options(options);
    TORCH_CHECK(size.size() == stride.size(), "empty_strided: ", size.size(), " sizes and ",
                stride.size(), " strides");
    taeda_tensor *made;
    taeda_error error{};
    taeda::detail::check(taeda::api().empty_strided(detail::dtype_of(options.type()),
                                                    detail::device_of(options.device()).number(),
                                                    int32_t(size.size()), size.data(),
                                                    stride.data(), &made, &error),
                         error);
    return Tensor(taeda::Tensor::adopt(made));
}
/* With the strides of x, if it has no gaps; options that are silent say what x is. */
inline Tensor empty_like(const Tensor &x, const TensorOptions &options = {},
                         std::optional<MemoryFormat> format = nullopt)
{
    TensorOptions all = options.merged_with(x.options());
    bool keep = !format || *format == MemoryFormat::Preserve;
    if (keep && !x.is_contiguous() && x.is_non_overlapping_and_dense())
        return empty_strided(x.sizes(), x.strides(), all);
    return empty(x.sizes(), all, keep ? MemoryFormat::Contiguous : *format);
}
inline Tensor zeros_like(const Tensor &x, const TensorOptions &options = {},
                         std::optional<MemoryFormat> format = nullopt)
{
    return Tensor(taeda::zeroed(empty_like(x, options, format).handle()));
}
inline Tensor full_like(const Tensor &x, const Scalar &value, const TensorOptions &options = {},
                        std::optional<MemoryFormat> format = nullopt)
{
    Tensor made = empty_like(x, options, format);
    return made.fill_(value);
}
inline Tensor ones_like(const Tensor &x, const TensorOptions &options = {},
                        std::optional<MemoryFormat> format = nullopt)
{
    return full_like(x, 1, options, format);
}

namespace detail {
inline Tensor placed(Tensor x, const TensorOptions &options)
{
    return options.has_device() && options.device() != x.device() ? x.to(options.device()) : x;
}
inline std::optional<ScalarType> checked(const TensorOptions &options)
{
    check_options(options);
    return options.dtype_opt();
}
}
#define TAEDA_TORCH_MAKE_(name, row, parameters, ...)               \
    inline Tensor name parameters                                   \
    {                                                               \
        static const detail::Row made(row);                         \
        std::optional<ScalarType> dtype = detail::checked(options); \
        return detail::placed(made.one({__VA_ARGS__}), options);    \
    }
TAEDA_TORCH_MAKE_(arange, "arange", (const Scalar &end, const TensorOptions &options = {}), end,
                  dtype)
TAEDA_TORCH_MAKE_(arange, "arange.start",
                  (const Scalar &start, const Scalar &end, const TensorOptions &options = {}),
                  start, end, dtype)
TAEDA_TORCH_MAKE_(arange, "arange.start_step",
                  (const Scalar &start, const Scalar &end, const Scalar &step,
                   const TensorOptions &options = {}),
                  start, end, step, dtype)
TAEDA_TORCH_MAKE_(linspace, "linspace",
                  (const Scalar &start, const Scalar &end, int64_t steps,
                   const TensorOptions &options = {}),
                  start, end, steps, dtype)
TAEDA_TORCH_MAKE_(eye, "eye", (int64_t n, const TensorOptions &options = {}), n, dtype)
TAEDA_TORCH_MAKE_(eye, "eye.m", (int64_t n, int64_t m, const TensorOptions &options = {}), n, m,
                  dtype)
TAEDA_TORCH_MAKE_(rand, "rand", (IntArrayRef size, const TensorOptions &options = {}), size,
                  nullopt, dtype)
TAEDA_TORCH_MAKE_(randn, "randn", (IntArrayRef size, const TensorOptions &options = {}), size,
                  nullopt, dtype)
TAEDA_TORCH_MAKE_(randperm, "randperm", (int64_t n, const TensorOptions &options = {}), n, nullopt,
                  dtype)
TAEDA_TORCH_MAKE_(randint, "randint",
                  (int64_t high, IntArrayRef size, const TensorOptions &options = {}), high, size,
                  nullopt, dtype)
TAEDA_TORCH_MAKE_(randint, "randint.low",
                  (int64_t low, int64_t high, IntArrayRef size, const TensorOptions &options = {}),
                  low, high, size, nullopt, dtype)
#undef TAEDA_TORCH_MAKE_
inline Tensor rand_like(const Tensor &x, const TensorOptions &options = {})
{
    return rand(x.sizes(), options.merged_with(x.options()));
}
inline Tensor randn_like(const Tensor &x, const TensorOptions &options = {})
{
    return randn(x.sizes(), options.merged_with(x.options()));
}
inline Tensor scalar_tensor(const Scalar &value, const TensorOptions &options = {})
{
    return full({}, value, options.dtype(options.type()));
}

namespace detail {
template <class T>
Tensor from_values(const T *values, size_t count, IntArrayRef size, const TensorOptions &options)
{
    constexpr ScalarType own = CppTypeToScalarType<T>::value;
    Tensor x = empty(size, own);
    T *data = x.data_ptr<T>();
    for (size_t i = 0; i < count; i++) data[i] = values[i];
    check_options(options);
    ScalarType wanted = options.has_dtype()   ? options.type()
                        : isFloatingType(own) ? type_of(taeda::default_dtype())
                        : own == kInt         ? kLong
                                              : own;
    return placed(x.to(wanted), options);
}
}
template <class T> Tensor tensor(const std::vector<T> &values, const TensorOptions &options = {})
{
    if constexpr (std::is_same_v<T, bool>)
        return tensor(std::vector<int64_t>(values.begin(), values.end()),
                      options.has_dtype() ? options : options.dtype(kBool));
    else return detail::from_values(values.data(), values.size(), int64_t(values.size()), options);
}
template <class T> Tensor tensor(ArrayRef<T> values, const TensorOptions &options = {})
{
    return detail::from_values(values.data(), values.size(), int64_t(values.size()), options);
}
template <class T, class = std::enable_if_t<!std::is_class_v<T> || std::is_same_v<T, Half> ||
                                            std::is_same_v<T, BFloat16>>>
Tensor tensor(std::initializer_list<T> values, const TensorOptions &options = {})
{
    return detail::from_values(values.begin(), values.size(), int64_t(values.size()), options);
}
template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
Tensor tensor(T value, const TensorOptions &options = {})
{
    return detail::from_values(&value, 1, IntArrayRef(), options);
}

/* ---- methods of Tensor ---- */
inline const Tensor &Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> format) const
{
    if (format && *format != MemoryFormat::Contiguous && *format != MemoryFormat::Preserve)
        throw NotImplementedError("resize_: in a memory format of its own: make an empty tensor");
    if (size == sizes()) return *this;
    TORCH_CHECK_NOT_IMPLEMENTED(!handle_.is_argument(), "resize_: from ", sizes(), " to ", size,
                                ": an argument of the operator keeps its shape: pass one of that "
                                "shape, or return a new tensor");
    int64_t wanted = 1, reach = numel() != 0;
    for (int64_t d = 0; d < dim(); d++) reach += (this->size(d) - 1) * stride(d) * (numel() != 0);
    for (int64_t n : size) wanted *= n;
    Tensor kept = at::empty(size, options()); /* checks the sizes */
    if (reach) {
        int64_t n = std::min(wanted, reach);
        Tensor(kept.handle().as_strided({n}, {1})).copy_(Tensor(handle_.as_strided({n}, {1})));
    }
    handle_.exchange(kept.handle());
    return *this;
}
inline Tensor Tensor::new_empty(IntArrayRef size, const TensorOptions &options) const
{
    return at::empty(size, options.merged_with(this->options()));
}
inline Tensor Tensor::new_zeros(IntArrayRef size, const TensorOptions &options) const
{
    return at::zeros(size, options.merged_with(this->options()));
}
inline Tensor Tensor::new_ones(IntArrayRef size, const TensorOptions &options) const
{
    return at::ones(size, options.merged_with(this->options()));
}
inline Tensor Tensor::new_full(IntArrayRef size, const Scalar &value,
                               const TensorOptions &options) const
{
    return at::full(size, value, options.merged_with(this->options()));
}
inline Tensor Tensor::new_tensor(IntArrayRef values, const TensorOptions &options) const
{
    return at::tensor(values, options.merged_with(this->options()));
}

inline Tensor Tensor::to(Device device, ScalarType type, bool, bool copy) const
{
    static const detail::Row row("_to_copy");
    taeda::Device there = detail::device_of(
        device.is_cuda() && !device.has_index() && is_cuda() ? this->device() : device);
    if (!copy && type == scalar_type() && there == handle_.device()) return *this;
    return row.one({*this, type, detail::device_of(there)});
}
inline Tensor Tensor::to(ScalarType type, bool non_blocking, bool copy) const
{
    return to(device(), type, non_blocking, copy);
}
inline Tensor Tensor::to(Device device, bool non_blocking, bool copy) const
{
    return to(device, scalar_type(), non_blocking, copy);
}
inline Tensor Tensor::to(const TensorOptions &options, bool non_blocking, bool copy) const
{
    detail::check_options(options);
    TensorOptions all = options.merged_with(this->options());
    return to(all.device(), all.type(), non_blocking, copy);
}
inline Tensor &Tensor::set_requires_grad(bool on)
{
    detail::check_options(TensorOptions().requires_grad(on));
    return *this;
}
inline Scalar Tensor::item() const
{
    Tensor x = cpu();
    TORCH_CHECK(x.numel() == 1, "a Tensor with ", x.numel(),
                " elements cannot be converted to Scalar");
    switch (x.scalar_type()) {
#define TAEDA_TORCH_TYPE_(type, name, number, dtype) \
    case ScalarType::name: return Scalar(*x.data_ptr<type>());
        TAEDA_TORCH_TYPES_(TAEDA_TORCH_TYPE_)
#undef TAEDA_TORCH_TYPE_
        default: throw NotImplementedError("item: not for ComplexHalf");
    }
}

/* ---- memory formats ---- */
namespace detail {
/* Do the strides grow in this order of dimensions, without gaps? Dimensions of one element have any
 * stride. */
inline bool dense_in(const Tensor &x, IntArrayRef order)
{
    int64_t step = 1;
    for (int64_t d : order) {
        if (x.size(d) != 1 && x.stride(d) != step) return false;
        step *= x.size(d);
    }
    return true;
}
}
inline bool Tensor::is_contiguous(MemoryFormat format) const
{
    if (format == MemoryFormat::ChannelsLast)
        return dim() == 4 && detail::dense_in(*this, {1, 3, 2, 0});
    if (format == MemoryFormat::ChannelsLast3d)
        return dim() == 5 && detail::dense_in(*this, {1, 4, 3, 2, 0});
    return is_contiguous();
}
inline bool Tensor::is_non_overlapping_and_dense() const
{
    std::vector<int64_t> order;
    for (int64_t d = dim(); d-- > 0;) order.push_back(d);
    std::stable_sort(order.begin(), order.end(),
                     [&](int64_t a, int64_t b) { return stride(a) < stride(b); });
    return detail::dense_in(*this, order);
}
inline MemoryFormat Tensor::suggest_memory_format() const
{
    if (is_contiguous()) return MemoryFormat::Contiguous;
    for (MemoryFormat format : {MemoryFormat::ChannelsLast, MemoryFormat::ChannelsLast3d})
        if (is_contiguous(format)) return format;
    return MemoryFormat::Contiguous;
}
inline Tensor Tensor::contiguous(MemoryFormat format) const
{
    if (format == MemoryFormat::Preserve || is_contiguous(format)) return *this;
    Tensor made = at::empty(sizes(), options(), format);
    return made.copy_(*this);
}

}
#endif
