/* taeda/result.hpp - how a bound function's results reach Python. */
#ifndef TAEDA_RESULT_HPP
#define TAEDA_RESULT_HPP
#include <string>
#include <tuple>
#include <type_traits>

#include "taeda/creation.hpp"
#include "taeda/operator.hpp"

namespace taeda TAEDA_HIDDEN {

namespace detail {
TAEDA_RARE inline taeda_tensor *copy_of(const Tensor &x) { return call("clone", x).release(); }
/* A result may not share memory with an argument: who returns one gives a copy. */
inline taeda_tensor *hand_over(const Tensor &x) { return x.is_argument() ? copy_of(x) : x.release(); }

/* How a result crosses. `number` says what Python makes of a tensor of one element. */
template <class R> struct Result {
    static_assert(sizeof(R) == 0, "this type cannot be a result of a bound function: the top of taeda.hpp lists those that can");
};
template <> struct Result<Tensor> {
    static constexpr const char *number = "";
    static constexpr int count = 1;
    /* Is it an argument of the call? A schema with (a!) says so. */
    static bool is_argument(const Tensor &made) { return made.defined() && made.is_argument(); }
    static std::string schema() { return "Tensor"; }
    static void store(const Tensor &made, taeda_tensor **outputs) { outputs[0] = hand_over(made); }
};
template <class... T> struct Result<std::tuple<T...>> {
    static_assert((std::is_same_v<T, Tensor> && ...), "a std::tuple of results holds Tensors");
    static constexpr const char *number = "";
    static constexpr int count = int(sizeof...(T));
    static bool is_argument(const std::tuple<T...> &made)
    {
        return std::apply([](const auto &...one) { return (Result<Tensor>::is_argument(one) && ...); }, made);
    }
    static std::string schema()
    {
        std::string made;
        for (size_t i = 0; i < sizeof...(T); i++) made += i ? ", Tensor" : "(Tensor";
        return made + ")";
    }
    static void store(const std::tuple<T...> &made, taeda_tensor **outputs)
    {
        /* One that stands for nothing is left out: a gradient that is not wanted. */
        std::apply([&](const auto &...one) { ((*outputs++ = one.defined() ? hand_over(one) : nullptr), ...); }, made);
    }
};
template <class T> struct NumberResult {
    static constexpr int count = 1;
    static bool is_argument(T) { return false; }
    static std::string schema() { return "Tensor"; }
    static void store(T made, taeda_tensor **outputs) { outputs[0] = scalar<T>(made).release(); }
};
template <> struct Result<double> : NumberResult<double> { static constexpr const char *number = "float"; };
template <> struct Result<int64_t> : NumberResult<int64_t> { static constexpr const char *number = "int"; };
template <> struct Result<bool> : NumberResult<bool> { static constexpr const char *number = "bool"; };

template <class R> constexpr int count_results()
{
    if constexpr (std::is_void_v<R>) return 0;
    else return Result<std::decay_t<R>>::count;
}
template <class R> inline constexpr int count_of = count_results<R>();
}

}
#endif
