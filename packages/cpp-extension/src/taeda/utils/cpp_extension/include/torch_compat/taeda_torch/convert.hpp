/* taeda_torch/convert.hpp - torch's types as arguments and results of operators. */
#ifndef TAEDA_TORCH_CONVERT_HPP
#define TAEDA_TORCH_CONVERT_HPP
#include "taeda_torch/creation.hpp"

namespace taeda TAEDA_HIDDEN {
namespace detail {

/* ---- arguments: how each is named in a schema, and read from a call ---- */
template <> struct Argument<at::Tensor> {
    static constexpr const char *schema = "Tensor";
    Argument<Tensor> held; /* outlives the handle below */
    at::Tensor value;
    explicit Argument(const taeda_value &v) : held(v), value(held.get()) {}
    Argument(Argument &&) = default;
    const at::Tensor &get() const { return value; }
};
template <> struct Argument<std::vector<at::Tensor>> {
    static constexpr const char *schema = "Tensor[]";
    Argument<std::vector<Tensor>> held;
    std::vector<at::Tensor> value;
    explicit Argument(const taeda_value &v) : held(v)
    {
        for (const Tensor &one : held.get()) value.emplace_back(one);
    }
    Argument(Argument &&) = default;
    const std::vector<at::Tensor> &get() const { return value; }
};
template <> struct Argument<at::TensorList> {
    static constexpr const char *schema = "Tensor[]";
    Argument<std::vector<at::Tensor>> held;
    at::TensorList value;
    explicit Argument(const taeda_value &v) : held(v), value(held.get()) {}
    Argument(Argument &&) = default;
    const at::TensorList &get() const { return value; }
};
inline at::IntArrayRef integers(const taeda_value &v)
{
    return {of_kind(v, TAEDA_KIND_INTS).as.integers, size_t(v.count)};
}
inline c10::Scalar number(const taeda_value &v)
{
    bool known = v.kind == TAEDA_KIND_BOOL || v.kind == TAEDA_KIND_INT ||
                 v.kind == TAEDA_KIND_FLOAT || v.kind == TAEDA_KIND_COMPLEX ||
                 v.kind == TAEDA_KIND_UINT;
    if (!known) wrong_kind(v.kind);
    return c10::Scalar(v);
}
template <class T> T narrowed(const taeda_value &v)
{
    T made = T(whole(v));
    if (int64_t(made) != v.as.integer)
        throw ValueError(concat(v.as.integer, " does not fit into ", 8 * sizeof(T), " bits"));
    return made;
}
#define TAEDA_TORCH_ARGUMENT_(type, name, ...)                                \
    template <> struct Argument<type> : Plain<type> {                         \
        static constexpr const char *schema = name;                           \
        explicit Argument(const taeda_value &v) : Plain<type>{__VA_ARGS__} {} \
    };
TAEDA_TORCH_ARGUMENT_(at::IntArrayRef, "int[]", integers(v))
TAEDA_TORCH_ARGUMENT_(c10::ArrayRef<double>, "float[]",
                      {of_kind(v, TAEDA_KIND_FLOATS).as.reals, size_t(v.count)})
TAEDA_TORCH_ARGUMENT_(at::OptionalIntArrayRef, "int[]?",
                      v.kind == TAEDA_KIND_NONE ? at::OptionalIntArrayRef()
                                                : at::OptionalIntArrayRef(integers(v)))
TAEDA_TORCH_ARGUMENT_(c10::Scalar, "Scalar", number(v))
TAEDA_TORCH_ARGUMENT_(c10::ScalarType, "ScalarType",
                      c10::detail::type_of(DType(of_kind(v, TAEDA_KIND_DTYPE).as.integer)))
TAEDA_TORCH_ARGUMENT_(
    c10::Device, "Device",
    c10::detail::device_of(Device::of(int32_t(of_kind(v, TAEDA_KIND_DEVICE).as.integer))))
TAEDA_TORCH_ARGUMENT_(c10::MemoryFormat, "MemoryFormat",
                      c10::MemoryFormat(of_kind(v, TAEDA_KIND_MEMORY_FORMAT).as.integer))
TAEDA_TORCH_ARGUMENT_(std::string_view, "str", of_kind(v, TAEDA_KIND_STRING).as.string)
TAEDA_TORCH_ARGUMENT_(int8_t, "int", narrowed<int8_t>(v))
TAEDA_TORCH_ARGUMENT_(int16_t, "int", narrowed<int16_t>(v))
TAEDA_TORCH_ARGUMENT_(uint8_t, "int", narrowed<uint8_t>(v))
TAEDA_TORCH_ARGUMENT_(uint16_t, "int", narrowed<uint16_t>(v))
TAEDA_TORCH_ARGUMENT_(uint32_t, "int", narrowed<uint32_t>(v))
#undef TAEDA_TORCH_ARGUMENT_
template <> struct Argument<std::vector<int>> : Plain<std::vector<int>> {
    static constexpr const char *schema = "int[]";
    explicit Argument(const taeda_value &v)
    {
        for (int64_t one : integers(v)) {
            if (one != int(one)) throw ValueError(concat(one, " does not fit into 32 bits"));
            value.push_back(int(one));
        }
    }
};
template <> struct Argument<std::vector<float>> : Plain<std::vector<float>> {
    static constexpr const char *schema = "float[]";
    explicit Argument(const taeda_value &v)
    {
        of_kind(v, TAEDA_KIND_FLOATS);
        for (int64_t i = 0; i < v.count; i++) value.push_back(float(v.as.reals[i]));
    }
};
/* Exactly N: ValueError for another length. */
template <size_t N> struct Argument<std::array<int64_t, N>> : Plain<std::array<int64_t, N>> {
    static constexpr const char *schema = "int[]";
    explicit Argument(const taeda_value &v)
    {
        at::IntArrayRef list = integers(v);
        if (list.size() != N) throw ValueError(concat("wanted ", N, " ints, got ", list.size()));
        std::copy(list.begin(), list.end(), this->value.begin());
    }
};
template <size_t N> struct Argument<std::array<bool, N>> : Plain<std::array<bool, N>> {
    static constexpr const char *schema = "bool[]";
    explicit Argument(const taeda_value &v)
    {
        of_kind(v, TAEDA_KIND_BOOLS);
        if (v.count != int64_t(N)) throw ValueError(concat("wanted ", N, " bools, got ", v.count));
        for (size_t i = 0; i < N; i++) this->value[i] = v.as.integers[i] != 0;
    }
};

template <> struct Argument<std::vector<std::optional<at::Tensor>>> {
    static constexpr const char *schema = "Tensor?[]";
    Argument<std::vector<Tensor>> held;
    std::vector<std::optional<at::Tensor>> value;
    explicit Argument(const taeda_value &v) : held(v)
    {
        for (const Tensor &one : held.get())
            value.push_back(one.defined() ? std::optional<at::Tensor>(one) : std::nullopt);
    }
    Argument(Argument &&) = default;
    const std::vector<std::optional<at::Tensor>> &get() const { return value; }
};
/* Of lists that are others by name: as of a std::vector. */
template <class List, class T> struct ListArgument {
    static constexpr bool unknown = !is_known<Argument<std::vector<T>>>;
    static inline const char *schema = Argument<std::vector<T>>::schema;
    Argument<std::vector<T>> held; /* outlives the handles below */
    List value;
    explicit ListArgument(const taeda_value &v) : held(v), value(held.get()) {}
    ListArgument(ListArgument &&) = default;
    const List &get() const { return value; }
};
template <class T> struct Argument<c10::List<T>> : ListArgument<c10::List<T>, T> {
    using ListArgument<c10::List<T>, T>::ListArgument;
};
template <>
struct Argument<c10::ArrayRef<std::optional<at::Tensor>>>
    : ListArgument<c10::ArrayRef<std::optional<at::Tensor>>, std::optional<at::Tensor>> {
    using ListArgument::ListArgument;
};
template <class T> struct Argument<std::complex<T>> : Plain<std::complex<T>> {
    static constexpr const char *schema = "Scalar";
    explicit Argument(const taeda_value &v)
        : Plain<std::complex<T>>{number(v).to<std::complex<T>>()}
    {
    }
};

template <class T> inline const char *const holds<c10::List<T>> = holds<std::vector<T>>;
template <>
inline const char *const holds<std::vector<std::optional<at::Tensor>>> = "Tensor?[] Tensor[] ";
template <>
inline const char *const holds<c10::ArrayRef<std::optional<at::Tensor>>> = "Tensor?[] Tensor[] ";
template <class T>
inline const char *const holds<std::complex<T>> = "Scalar complex float int bool ";
template <> inline const char *const holds<std::vector<at::Tensor>> = "Tensor[] Tensor?[] ";
template <> inline const char *const holds<at::TensorList> = "Tensor[] Tensor?[] ";
template <> inline const char *const holds<at::OptionalIntArrayRef> = "int[] ";
template <> inline const char *const holds<c10::Scalar> = "Scalar float int bool ";
template <> inline const char *const holds<int8_t> = "int bool Scalar ";
template <> inline const char *const holds<int16_t> = "int bool Scalar ";
template <> inline const char *const holds<uint8_t> = "int bool Scalar ";
template <> inline const char *const holds<uint16_t> = "int bool Scalar ";
template <> inline const char *const holds<uint32_t> = "int bool Scalar ";
template <> inline constexpr bool holds_none<at::OptionalIntArrayRef> = true;

}
}

namespace at TAEDA_HIDDEN {
namespace detail {

/* ---- results. All cross as tensors; `kinds` says what Python makes of them
 * (taeda._library._results):
 *      t a Tensor  o one or None  f a float  i an int  b a bool  z a complex  n a number of any kind
 *      F I B lists of numbers  s a text  S texts  [ a list of Tensors
 *      (...) a tuple  ~ behind all: the record of torch::autograd::Function, which Python does not see ---- */
class Results {
public:
    void add(const Tensor &x) { tensors_.push_back(x.defined() ? x.handle() : taeda::Tensor()); }
    void add_length(size_t n) { lengths_.push_back(int64_t(n)); }
    const std::vector<taeda::Tensor> &tensors() const { return tensors_; }
    const std::vector<int64_t> &lengths() const { return lengths_; }

private:
    std::vector<taeda::Tensor> tensors_;
    std::vector<int64_t> lengths_;
};

template <class R, class = void> struct Out {
    static_assert(sizeof(R) == 0, "this type cannot be a result of a bound function: it gives "
                                  "Tensors, numbers, texts, lists or tuples of them");
    static constexpr bool unknown = true;
};
template <> struct Out<Tensor> {
    static std::string kinds() { return "t"; }
    static void put(const Tensor &x, Results &to) { to.add(x); }
};
template <> struct Out<std::optional<Tensor>> {
    static std::string kinds() { return "o"; }
    static void put(const std::optional<Tensor> &x, Results &to) { to.add(x.value_or(Tensor())); }
};
template <class T, char kind> struct NumberOut {
    static std::string kinds() { return std::string(1, kind); }
    static void put(T v, Results &to) { to.add(Tensor(taeda::scalar<T>(v))); }
};
template <> struct Out<double> : NumberOut<double, 'f'> {};
template <> struct Out<float> : NumberOut<float, 'f'> {};
template <> struct Out<int64_t> : NumberOut<int64_t, 'i'> {};
template <> struct Out<int> : NumberOut<int, 'i'> {};
template <> struct Out<uint64_t> : NumberOut<uint64_t, 'i'> {};
template <> struct Out<bool> : NumberOut<bool, 'b'> {};
template <class T, char kind> struct ListOut {
    static std::string kinds() { return std::string(1, kind); }
    template <class L> static void put(const L &list, Results &to)
    {
        to.add(from_values(list.data(), list.size(), int64_t(list.size()),
                           CppTypeToScalarType<T>::value));
    }
};
template <> struct Out<std::vector<int64_t>> : ListOut<int64_t, 'I'> {};
template <> struct Out<IntArrayRef> : ListOut<int64_t, 'I'> {};
template <> struct Out<std::vector<int>> : ListOut<int, 'I'> {};
template <> struct Out<std::vector<double>> : ListOut<double, 'F'> {};
template <> struct Out<std::vector<float>> : ListOut<float, 'F'> {};
template <> struct Out<std::string> {
    static std::string kinds() { return "s"; }
    static void put(const std::string &text, Results &to)
    {
        to.add(from_values(reinterpret_cast<const uint8_t *>(text.data()), text.size(),
                           int64_t(text.size()), kByte));
    }
};
template <> struct Out<std::vector<bool>> {
    static std::string kinds() { return "B"; }
    static void put(const std::vector<bool> &list, Results &to) { to.add(at::tensor(list)); }
};
template <class T> struct Out<std::complex<T>> {
    static std::string kinds() { return "z"; }
    static void put(std::complex<T> v, Results &to) { to.add(scalar_tensor(v, kComplexDouble)); }
};
template <> struct Out<Scalar> {
    static std::string kinds() { return "n"; }
    static void put(const Scalar &v, Results &to) { to.add(scalar_tensor(v, v.type())); }
};
/* each with its length before it: "3:abc" */
template <> struct Out<std::vector<std::string>> {
    static std::string kinds() { return "S"; }
    static void put(const std::vector<std::string> &texts, Results &to)
    {
        std::string all;
        for (const std::string &one : texts) all += str(one.size(), ":", one);
        Out<std::string>::put(all, to);
    }
};
template <class T> struct Out<c10::List<T>> : Out<std::vector<T>> {
    static void put(const c10::List<T> &list, Results &to)
    {
        Out<std::vector<T>>::put(list.vec(), to);
    }
};
template <> struct Out<std::vector<Tensor>> {
    static std::string kinds() { return "["; }
    static void put(const std::vector<Tensor> &list, Results &to)
    {
        to.add_length(list.size());
        for (const Tensor &x : list) to.add(x);
    }
};
template <class... T> struct Out<std::tuple<T...>> {
    static constexpr bool unknown = !(taeda::detail::is_known<Out<T>> && ...);
    static std::string kinds() { return "(" + (std::string() + ... + Out<T>::kinds()) + ")"; }
    static void put(const std::tuple<T...> &made, Results &to)
    {
        std::apply(
            [&](const auto &...one) { (Out<std::decay_t<decltype(one)>>::put(one, to), ...); },
            made);
    }
};
template <class A, class B> struct Out<std::pair<A, B>> {
    static std::string kinds() { return Out<std::tuple<A, B>>::kinds(); }
    static void put(const std::pair<A, B> &made, Results &to)
    {
        Out<std::tuple<A, B>>::put(made, to);
    }
};
template <> struct Out<void> {
    static std::string kinds() { return ""; }
};

}
}
#endif
