/* taeda/argument.hpp - how Python's arguments reach a bound function. */
#ifndef TAEDA_ARGUMENT_HPP
#define TAEDA_ARGUMENT_HPP
#include <optional>
#include <string>
#include <vector>

#include "taeda/random.hpp"
#include "taeda/tensor.hpp"

namespace taeda TAEDA_HIDDEN {

/* An argument of a running call. */
class Borrowed {
public:
    explicit Borrowed(const taeda_tensor *t) : tensor_(const_cast<taeda_tensor *>(t), false) {}
    Borrowed(Borrowed &&) = default;
    ~Borrowed()
    {
        if (tensor_.box_ && tensor_.box_->handles.load(std::memory_order_acquire) > 1) outlive();
    }
    const Tensor &operator*() const { return tensor_; }

private:
    void outlive() noexcept /* somebody kept a handle: give it a tensor of its own. Ends the process
                               if memory is out */
    {
        detail::Box &box = *tensor_.box_;
        box.tensor = tensor_.viewed(box.facts.ndim, box.facts.sizes, box.facts.strides, 0);
        box.owned = true;
        box.ask();
    }
    Tensor tensor_;
};

namespace detail {
/* The value, if it is of that kind: what a schema lets through is not always what the C++ type can
 * hold. */
[[noreturn]] TAEDA_RARE inline void wrong_kind(int32_t kind)
{
    throw TypeError(
        concat("an argument is of kind ", kind, ", which the C++ function cannot take"));
}
inline const taeda_value &of_kind(const taeda_value &v, int32_t kind)
{
    if (v.kind != kind) wrong_kind(v.kind);
    return v;
}
inline int64_t whole(const taeda_value &v)
{
    if (v.kind == TAEDA_KIND_UINT)
        throw ValueError(concat("an int above 2**63 - 1 does not fit into an int64_t"));
    if (v.kind != TAEDA_KIND_INT && v.kind != TAEDA_KIND_BOOL) wrong_kind(v.kind);
    return v.as.integer;
}
inline uint64_t natural(const taeda_value &v)
{
    if (v.kind == TAEDA_KIND_UINT) return v.as.natural;
    if (whole(v) < 0) throw ValueError(concat(v.as.integer, " does not fit into a uint64_t"));
    return uint64_t(v.as.integer);
}
/* How a value crosses: the name of its type in schemas, and how it is read. */
template <class T, class = void> struct Argument {
    static_assert(sizeof(T) == 0, "this type cannot be an argument of a bound function: the top of "
                                  "taeda.hpp lists those that can");
    static constexpr bool unknown = true; /* said: what would come of it says nothing more */
};
template <class T, class = void> inline constexpr bool is_known = true;
template <class T> inline constexpr bool is_known<T, std::enable_if_t<T::unknown>> = false;
template <> struct Argument<Tensor> {
    static constexpr const char *schema = "Tensor";
    Borrowed borrowed;
    explicit Argument(const taeda_value &v) : borrowed(of_kind(v, TAEDA_KIND_TENSOR).as.tensor) {}
    const Tensor &get() const { return *borrowed; }
};
template <> struct Argument<std::vector<Tensor>> {
    static constexpr const char *schema = "Tensor[]";
    std::vector<Borrowed> borrowed;
    std::vector<Tensor> list;
    explicit Argument(const taeda_value &v)
    {
        of_kind(v, TAEDA_KIND_TENSORS);
        borrowed.reserve(size_t(v.count));
        for (int64_t i = 0; i < v.count; i++) {
            if (v.as.tensors[i]) borrowed.emplace_back(v.as.tensors[i]);
            list.push_back(v.as.tensors[i] ? *borrowed.back() : Tensor());
        }
    }
    Argument(Argument &&) = default;
    ~Argument() { list.clear(); } /* before the borrowed, which look whether a handle is left */
    const std::vector<Tensor> &get() const { return list; }
};
template <class T> struct Plain {
    T value;
    const T &get() const { return value; }
};
inline double real(const taeda_value &v)
{
    return v.kind == TAEDA_KIND_FLOAT  ? v.as.real
           : v.kind == TAEDA_KIND_UINT ? double(v.as.natural)
                                       : double(whole(v));
}
#define TAEDA_ARGUMENT(type, name, expression)                               \
    template <> struct Argument<type> : Plain<type> {                        \
        static constexpr const char *schema = name;                          \
        explicit Argument(const taeda_value &v) : Plain<type>{expression} {} \
    };
TAEDA_ARGUMENT(double, "float", real(v))
TAEDA_ARGUMENT(float, "float", float(real(v)))
TAEDA_ARGUMENT(int64_t, "int", whole(v))
TAEDA_ARGUMENT(uint64_t, "Scalar", natural(v))
TAEDA_ARGUMENT(bool, "bool", of_kind(v, TAEDA_KIND_BOOL).as.integer != 0)
TAEDA_ARGUMENT(DType, "ScalarType", DType(of_kind(v, TAEDA_KIND_DTYPE).as.integer))
TAEDA_ARGUMENT(std::string, "str", of_kind(v, TAEDA_KIND_STRING).as.string)
TAEDA_ARGUMENT(std::vector<double>, "float[]",
               std::vector<double>(of_kind(v, TAEDA_KIND_FLOATS).as.reals, v.as.reals + v.count))
TAEDA_ARGUMENT(std::vector<int64_t>, "int[]",
               std::vector<int64_t>(of_kind(v, TAEDA_KIND_INTS).as.integers,
                                    v.as.integers + v.count))
TAEDA_ARGUMENT(std::vector<bool>, "bool[]",
               std::vector<bool>(of_kind(v, TAEDA_KIND_BOOLS).as.integers, v.as.integers + v.count))
#undef TAEDA_ARGUMENT
template <> struct Argument<Generator> : Plain<Generator> {
    static constexpr const char *schema = "Generator?";
    explicit Argument(const taeda_value &v)
        : Plain<Generator>{
              Generator(v.kind == TAEDA_KIND_NONE ? v : of_kind(v, TAEDA_KIND_GENERATOR))}
    {
    }
};
template <> struct Argument<int> : Plain<int> {
    static constexpr const char *schema = "int";
    explicit Argument(const taeda_value &v) : Plain<int>{int(whole(v))}
    {
        if (value != v.as.integer)
            throw ValueError(concat(v.as.integer, " does not fit into 32 bits"));
    }
};
template <class T> struct Argument<std::optional<T>> {
    static constexpr bool unknown = !is_known<Argument<T>>;
    static inline const std::string name = std::string(Argument<T>::schema) + "?";
    static inline const char *schema = name.c_str();
    std::optional<Argument<T>> held;
    std::optional<T> value;
    explicit Argument(const taeda_value &v)
    {
        if (v.kind == TAEDA_KIND_NONE) return;
        held.emplace(v);
        value = held->get();
    }
    Argument(Argument &&) = default;
    ~Argument() { value.reset(); }
    const std::optional<T> &get() const { return value; }
};
}

}
#endif
