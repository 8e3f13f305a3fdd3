/* taeda/argument.hpp - how Python's arguments reach a bound function. */
#ifndef TAEDA_ARGUMENT_HPP
#define TAEDA_ARGUMENT_HPP
#include <optional>
#include <string>
#include <vector>

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
    void outlive() noexcept /* somebody kept a handle: give it a tensor of its own. Ends the process if memory is out */
    {
        detail::Box &box = *tensor_.box_;
        box.tensor = tensor_.viewed(box.facts.ndim, box.facts.sizes, box.facts.strides, 0);
        box.owned = true;
        box.ask();
    }
    Tensor tensor_;
};

namespace detail {
/* How a value crosses: the name of its type in schemas, and how it is read. */
template <class T> struct Argument {
    static_assert(sizeof(T) == 0, "this type cannot be an argument of a bound function: the top of taeda.hpp lists those that can");
};
template <> struct Argument<Tensor> {
    static constexpr const char *schema = "Tensor";
    Borrowed borrowed;
    explicit Argument(const taeda_value &v) : borrowed(v.as.tensor) {}
    const Tensor &get() const { return *borrowed; }
};
template <> struct Argument<std::vector<Tensor>> {
    static constexpr const char *schema = "Tensor[]";
    std::vector<Borrowed> borrowed;
    std::vector<Tensor> list;
    explicit Argument(const taeda_value &v)
    {
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
inline double real(const taeda_value &v) { return v.kind == TAEDA_KIND_FLOAT ? v.as.real : double(v.as.integer); }
#define TAEDA_ARGUMENT(type, name, expression) \
    template <> struct Argument<type> : Plain<type> { \
        static constexpr const char *schema = name; \
        explicit Argument(const taeda_value &v) : Plain<type>{expression} {} \
    };
TAEDA_ARGUMENT(double, "float", real(v))
TAEDA_ARGUMENT(float, "float", float(real(v)))
TAEDA_ARGUMENT(int64_t, "int", v.as.integer)
TAEDA_ARGUMENT(bool, "bool", v.as.integer != 0)
TAEDA_ARGUMENT(DType, "ScalarType", DType(v.as.integer))
TAEDA_ARGUMENT(std::string, "str", v.as.string)
TAEDA_ARGUMENT(std::vector<double>, "float[]", std::vector<double>(v.as.reals, v.as.reals + v.count))
TAEDA_ARGUMENT(std::vector<int64_t>, "int[]", std::vector<int64_t>(v.as.integers, v.as.integers + v.count))
TAEDA_ARGUMENT(std::vector<bool>, "bool[]", std::vector<bool>(v.as.integers, v.as.integers + v.count))
#undef TAEDA_ARGUMENT
template <> struct Argument<int> : Plain<int> {
    static constexpr const char *schema = "int";
    explicit Argument(const taeda_value &v) : Plain<int>{int(v.as.integer)}
    {
        if (value != v.as.integer) throw ValueError(concat(v.as.integer, " does not fit into 32 bits"));
    }
};
template <class T> struct Argument<std::optional<T>> {
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
