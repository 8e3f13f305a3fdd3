/* taeda_torch/tensor.hpp - at::Tensor: torch's methods on a handle of taeda's. */
#ifndef TAEDA_TORCH_TENSOR_HPP
#define TAEDA_TORCH_TENSOR_HPP
#include <tuple>

#include "taeda_torch/accessor.hpp"
#include "taeda_torch/options.hpp"
#include "taeda_torch/scalar.hpp"

namespace at TAEDA_HIDDEN {

using namespace c10;
using Generator = taeda::Generator;
class Tensor;
using TensorList = ArrayRef<Tensor>;
using ITensorListRef = TensorList;
namespace indexing {
class TensorIndex;
}

/* What x.type() gives: older programs ask it for the dtype and the device. */
class DeprecatedTypeProperties {
public:
    DeprecatedTypeProperties(ScalarType type, Device device) : type_(type), device_(device) {}
    ScalarType scalarType() const { return type_; }
    caffe2::TypeMeta typeMeta() const { return type_; }
    bool is_cuda() const { return device_.is_cuda(); }
    DeviceType device_type() const { return device_.type(); }
    TensorOptions options() const { return TensorOptions(type_).device(device_); }
    operator TensorOptions() const { return options(); }
    std::string toString() const
    {
        return std::string(is_cuda() ? "CUDA" : "CPU") + c10::toString(type_) + "Type";
    }
    bool operator==(const DeprecatedTypeProperties &o) const
    {
        return type_ == o.type_ && device_.type() == o.device_.type();
    }
    bool operator!=(const DeprecatedTypeProperties &o) const { return !(*this == o); }

private:
    ScalarType type_;
    Device device_;
};
TAEDA_RARE inline std::ostream &operator<<(std::ostream &out, const DeprecatedTypeProperties &type)
{
    return out << type.toString();
}

/* A handle, copied as a pointer is. A const one may be written through, as in torch. */
class Tensor {
public:
    Tensor() = default; /* stands for nothing: defined() is false */
    explicit Tensor(taeda::Tensor handle) : handle_(std::move(handle)) {}
    Tensor(const Tensor &) = default;
    Tensor(Tensor &&) noexcept = default;
    Tensor &operator=(const Tensor &) & = default;
    Tensor &operator=(Tensor &&) & noexcept = default;
    /* `y[i] = x` writes into y: a handle that nobody holds stands for its elements */
    Tensor &operator=(const Tensor &o) && { return copy_(o); }
    Tensor &operator=(Tensor &&o) && { return copy_(o); }
    Tensor &operator=(const Scalar &o) && { return fill_(o); }
    const taeda::Tensor &handle() const { return handle_; }

    bool defined() const { return handle_.defined(); }
    bool has_value() const { return defined(); }
    bool is_same(const Tensor &o) const
    {
        return defined() ? o.defined() && handle_.get() == o.handle_.get() : !o.defined();
    }
    void reset() { handle_ = taeda::Tensor(); }
    const Tensor &expect_contiguous() const
    {
        TORCH_CHECK(is_contiguous(), "expected a contiguous tensor");
        return *this;
    }

    /* ---- what it is ---- */
    int64_t dim() const { return handle_.dim(); }
    int64_t ndimension() const { return dim(); }
    int64_t numel() const { return handle_.numel(); }
    int64_t size(int64_t d) const { return handle_.size(d); }
    int64_t stride(int64_t d) const { return handle_.stride(d); }
    IntArrayRef sizes() const { return {handle_.sizes().begin(), size_t(dim())}; }
    IntArrayRef strides() const { return {handle_.strides().begin(), size_t(dim())}; }
    int64_t sym_size(int64_t d) const { return size(d); }
    int64_t sym_numel() const { return numel(); }
    IntArrayRef sym_sizes() const { return sizes(); }
    IntArrayRef sym_strides() const { return strides(); }
    int64_t _version() const { return int64_t(handle_.version()); }
    int64_t element_size() const { return handle_.element_size(); }
    int64_t itemsize() const { return element_size(); }
    size_t nbytes() const { return size_t(numel() * element_size()); }
    ScalarType scalar_type() const { return detail::type_of(handle_.dtype()); }
    caffe2::TypeMeta dtype() const { return scalar_type(); }
    DeprecatedTypeProperties type() const { return {scalar_type(), device()}; }
    Device device() const { return detail::device_of(handle_.device()); }
    Layout layout() const { return kStrided; }
    int64_t get_device() const { return is_cuda() ? device().index() : -1; }
    bool is_cpu() const { return device().is_cpu(); }
    bool is_cuda() const { return handle_.is_cuda(); }
    bool is_meta() const { return handle_.is_meta(); }
    bool is_sparse() const { return false; } /* one with parts does not cross the boundary */
    bool is_quantized() const { return false; }
    bool is_floating_point() const { return isFloatingType(scalar_type()); }
    bool is_complex() const { return isComplexType(scalar_type()); }
    bool is_signed() const { return taeda::facts_of(handle_.dtype()).is_signed; }
    bool is_contiguous() const { return handle_.is_contiguous(); }
    bool is_contiguous(MemoryFormat format) const;
    bool is_non_overlapping_and_dense() const;
    MemoryFormat suggest_memory_format() const;
    TensorOptions options() const { return TensorOptions(scalar_type()).device(device()); }
    std::string toString() const { return type().toString(); }

    /* ---- its elements; RuntimeError unless they are of type T ---- */
    template <class T> T *data_ptr() const
    {
        return static_cast<T *>(memory(CppTypeToScalarType<std::remove_const_t<T>>::value));
    }
    template <class T> T *data() const { return data_ptr<T>(); }
    template <class T> const T *const_data_ptr() const
    {
        return data_ptr<std::remove_const_t<T>>();
    }
    template <class T> T *mutable_data_ptr() const { return data_ptr<T>(); }
    void *data_ptr() const { return const_cast<void *>(handle_.raw_data()); }
    const void *const_data_ptr() const { return handle_.raw_data(); }
    void *mutable_data_ptr() const { return data_ptr(); }
    template <class T, size_t N> TensorAccessor<T, N> accessor() const &
    {
        strided(N);
        return {data_ptr<T>(), sizes().data(), strides().data()};
    }
    /* it would outlive the tensor */
    template <class T, size_t N> TensorAccessor<T, N> accessor() && = delete;
    template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor32<T, N, Traits> packed_accessor32() const
    {
        TORCH_CHECK(numel() <= INT32_MAX, "packed_accessor32: ", numel(),
                    " elements are more than 32 bits can count");
        return packed<T, N, Traits, int32_t>();
    }
    template <class T, size_t N, template <class> class Traits = DefaultPtrTraits>
    PackedTensorAccessor64<T, N, Traits> packed_accessor64() const
    {
        return packed<T, N, Traits, int64_t>();
    }
    template <class T, size_t N, template <class> class Traits = DefaultPtrTraits,
              class Index = int64_t>
    GenericPackedTensorAccessor<T, N, Traits, Index> packed_accessor() const
    {
        return packed<T, N, Traits, Index>();
    }
    template <class T, size_t N, template <class> class Traits = DefaultPtrTraits,
              class Index = int64_t>
    GenericPackedTensorAccessor<T, N, Traits, Index> generic_packed_accessor() const
    {
        return packed<T, N, Traits, Index>();
    }
    template <class T> T item() const { return item().to<T>(); }
    Scalar item() const;

    /* ---- copies in another form: convert.hpp ---- */
    Tensor contiguous() const { return is_contiguous() ? *this : Tensor(handle_.contiguous()); }
    Tensor contiguous(MemoryFormat format) const;
    Tensor to(ScalarType type, bool non_blocking = false, bool copy = false) const;
    Tensor to(caffe2::TypeMeta type) const { return to(type.toScalarType()); }
    Tensor to(Device device, bool non_blocking = false, bool copy = false) const;
    Tensor to(DeviceType type) const { return to(Device(type)); }
    Tensor to(Device device, ScalarType type, bool non_blocking = false, bool copy = false) const;
    Tensor to(const TensorOptions &options, bool non_blocking = false, bool copy = false) const;
    Tensor to(const Tensor &like) const { return to(like.device(), like.scalar_type()); }
    Tensor toType(ScalarType type) const { return to(type); }
    Tensor type_as(const Tensor &o) const { return to(o); }
    Tensor cpu() const { return to(Device(kCPU)); }
    Tensor cuda() const { return to(Device(kCUDA, 0)); }
    Tensor view_as(const Tensor &o) const { return view(o.sizes()); }
    Tensor expand_as(const Tensor &o) const { return expand(o.sizes()); }
    Tensor reshape_as(const Tensor &o) const { return reshape(o.sizes()); }
    /* in a function that applies torch::autograd::Function: record.hpp */
    bool requires_grad() const;
    Tensor &set_requires_grad(bool on);
    Tensor variable_data() const { return *this; }
    Tensor tensor_data() const { return *this; }

    /* Of a tensor that was made in C++; one that came as an argument keeps its shape. */
    const Tensor &resize_(IntArrayRef size, std::optional<MemoryFormat> format = nullopt) const;
    const Tensor &resize_as_(const Tensor &o) const { return resize_(o.sizes()); }
    /* ---- like this one, but: creation.hpp ---- */
    Tensor new_empty(IntArrayRef size, const TensorOptions &options = {}) const;
    Tensor new_zeros(IntArrayRef size, const TensorOptions &options = {}) const;
    Tensor new_ones(IntArrayRef size, const TensorOptions &options = {}) const;
    Tensor new_full(IntArrayRef size, const Scalar &value, const TensorOptions &options = {}) const;
    Tensor new_tensor(IntArrayRef values, const TensorOptions &options = {}) const;

    /* ---- parts: indexing.hpp ---- */
    Tensor operator[](int64_t i) const { return select(0, i); }
    Tensor operator[](const Tensor &index) const;
    Tensor index(ArrayRef<indexing::TensorIndex> indices) const;
    Tensor index(std::initializer_list<indexing::TensorIndex> indices) const;
    Tensor index(TensorList indices) const;
    Tensor &index_put_(ArrayRef<indexing::TensorIndex> indices, const Tensor &values);
    Tensor &index_put_(std::initializer_list<indexing::TensorIndex> indices, const Tensor &values);
    Tensor &index_put_(ArrayRef<indexing::TensorIndex> indices, const Scalar &value);
    Tensor &index_put_(std::initializer_list<indexing::TensorIndex> indices, const Scalar &value);
    Tensor &index_put_(TensorList indices, const Tensor &values, bool accumulate = false);

#define TAEDA_TORCH_ASSIGN_(sign, name)                         \
    Tensor &operator sign(const Tensor & o) { return name(o); } \
    Tensor &operator sign(const Scalar & o) { return name(o); }
    TAEDA_TORCH_ASSIGN_(+=, add_)
    TAEDA_TORCH_ASSIGN_(-=, sub_)
    TAEDA_TORCH_ASSIGN_(*=, mul_)
    TAEDA_TORCH_ASSIGN_(/=, div_)
    TAEDA_TORCH_ASSIGN_(&=, bitwise_and_)
    TAEDA_TORCH_ASSIGN_(|=, bitwise_or_)
    TAEDA_TORCH_ASSIGN_(^=, bitwise_xor_)
#undef TAEDA_TORCH_ASSIGN_

#include "taeda_torch/methods.inc"

private:
    void *memory(ScalarType wanted) const
    {
        if (wanted != scalar_type() || (is_meta() && numel())) no_memory(wanted);
        return const_cast<void *>(handle_.raw_data());
    }
    [[noreturn]] TAEDA_RARE void no_memory(ScalarType wanted) const
    {
        if (wanted == scalar_type())
            throw NotImplementedError("a meta tensor has a shape and no memory");
        throw Error(str("expected scalar type ", wanted, " but found ", scalar_type()));
    }
    void strided(size_t n) const
    {
        TORCH_CHECK(n > 0 && dim() == int64_t(n), "accessor: expected ", n, " dims but tensor has ",
                    dim());
    }
    template <class T, size_t N, template <class> class Traits, class Index>
    GenericPackedTensorAccessor<T, N, Traits, Index> packed() const
    {
        strided(N);
        return {data_ptr<T>(), sizes().data(), strides().data()};
    }
    taeda::Tensor handle_;
};
using OptionalTensorRef = std::optional<Tensor>;

}
#endif
