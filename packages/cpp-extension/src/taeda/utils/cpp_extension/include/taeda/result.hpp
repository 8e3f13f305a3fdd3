/* taeda/result.hpp - how a bound function's results reach Python. */
#ifndef TAEDA_RESULT_HPP
#define TAEDA_RESULT_HPP
#include <algorithm>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "taeda/creation.hpp"
#include "taeda/operator.hpp"

namespace taeda TAEDA_HIDDEN {

namespace detail {
TAEDA_RARE inline taeda_tensor *copy_of(const Tensor &x) { return call("clone", x).release(); }
/* Where the memory of a tensor begins; null if it has none. */
inline const char *start_of(const taeda_tensor *t)
{
    taeda_facts facts;
    facts.size = sizeof facts;
    api().facts(t, &facts);
    return facts.data ? static_cast<const char *>(facts.data) - facts.offset * facts.itemsize
                      : nullptr;
}
/* Is the schema's result a Tensor[]? */
inline bool is_listed(const taeda_call &call) { return call.core; }
/* The results of a call, as they are handed over. */
class Handing {
public:
    /* `views`: the schema says that results may lie in an argument's memory */
    Handing(const taeda_call &call, bool views)
        : call_(call), outputs_(call.outputs), count_(call.output_count), views_(views)
    {
    }
    /* `count` results follow; before the first, where the schema says Tensor[] */
    void open(int64_t count)
    {
        if (!is_listed(call_)) return;
        int32_t code = api().list_outputs(&call_, count, &outputs_);
        if (code) fail(code, *call_.error);
        count_ = count;
    }
    /* The next result. A result may share memory neither with an argument nor with another result:
     * one that does gives a copy. One that stands for nothing is left out: a gradient that is not
     * wanted. */
    void put(const Tensor &x)
    {
        if (next_ < count_ && x.defined())
            outputs_[next_] = !views_ && !x.is_apart() && (x.is_argument() || shares(x))
                                  ? copy_of(x)
                                  : x.release();
        next_++;
    }

private:
    void note(const taeda_tensor *t)
    {
        const char *start = t ? start_of(t) : nullptr;
        if (start) taken_.push_back(start);
    }
    void note_arguments()
    {
        for (int i = 0; i < call_.arg_count; i++) {
            const taeda_value &v = call_.args[i];
            if (v.kind == TAEDA_KIND_TENSOR) note(v.as.tensor);
            for (int64_t k = 0; v.kind == TAEDA_KIND_TENSORS && k < v.count; k++)
                note(v.as.tensors[k]);
        }
    }
    /* Does it lie in memory of an argument, or of one of the results before it? */
    TAEDA_RARE bool shares(const Tensor &x)
    {
        const char *start = start_of(x.get());
        if (!std::exchange(asked_, true)) note_arguments();
        while (noted_ < next_) note(outputs_[noted_++]);
        return start && std::find(taken_.begin(), taken_.end(), start) != taken_.end();
    }
    const taeda_call &call_;
    taeda_tensor **outputs_;
    std::vector<const char *> taken_; /* where memory begins, of arguments and of results */
    int64_t count_, next_ = 0, noted_ = 0;
    bool asked_ = false;
    bool views_;
};
/* -1: a list, whose length only the call knows */
inline constexpr int any_count = -1;

/* How a result crosses. `number` says what Python makes of a tensor of one element. */
template <class R> struct Result {
    static_assert(sizeof(R) == 0, "this type cannot be a result of a bound function: the top of "
                                  "taeda.hpp lists those that can");
    static constexpr bool unknown = true;
};
template <> struct Result<Tensor> {
    static constexpr const char *number = "";
    static constexpr int count = 1;
    /* Is it an argument of the call? A schema with (a!) says so. */
    static bool is_argument(const Tensor &made) { return made.defined() && made.is_argument(); }
    static std::string schema() { return "Tensor"; }
    static void store(const Tensor &made, Handing &to) { to.put(made); }
};
/* Of an optional: a Tensor that stands for nothing if it is empty, which derivatives may give. */
template <> struct Result<std::optional<Tensor>> : Result<Tensor> {
    static bool is_argument(const std::optional<Tensor> &made)
    {
        return made && made->defined() && made->is_argument();
    }
    static void store(const std::optional<Tensor> &made, Handing &to)
    {
        to.put(made ? *made : Tensor());
    }
};
/* A Tensor[], or as many as the schema has results. */
template <> struct Result<std::vector<Tensor>> {
    static constexpr const char *number = "";
    static constexpr int count = any_count;
    static std::string schema() { return "Tensor[]"; }
    static bool is_argument(const std::vector<Tensor> &made)
    {
        for (const Tensor &one : made)
            if (!Result<Tensor>::is_argument(one)) return false;
        return true;
    }
    static void store(const std::vector<Tensor> &made, Handing &to)
    {
        to.open(int64_t(made.size()));
        for (const Tensor &one : made) to.put(one);
    }
};
template <class T>
inline constexpr bool is_one =
    std::is_same_v<T, Tensor> || std::is_same_v<T, std::optional<Tensor>>;
template <class... T> struct Result<std::tuple<T...>> {
    static_assert((is_one<T> && ...),
                  "a std::tuple of results holds Tensors, or std::optional of them");
    static constexpr bool unknown = !(is_one<T> && ...);
    static constexpr const char *number = "";
    static constexpr int count = int(sizeof...(T));
    static bool is_argument(const std::tuple<T...> &made)
    {
        return std::apply(
            [](const auto &...one) {
                return (Result<std::decay_t<decltype(one)>>::is_argument(one) && ...);
            },
            made);
    }
    static std::string schema()
    {
        std::string made;
        for (size_t i = 0; i < sizeof...(T); i++) made += i ? ", Tensor" : "(Tensor";
        return made + ")";
    }
    static void store(const std::tuple<T...> &made, Handing &to)
    {
        std::apply(
            [&](const auto &...one) { (Result<std::decay_t<decltype(one)>>::store(one, to), ...); },
            made);
    }
};
template <class T> struct NumberResult {
    static constexpr int count = 1;
    static bool is_argument(T) { return false; }
    static std::string schema() { return "Tensor"; }
    static void store(T made, Handing &to) { to.put(scalar<T>(made)); }
};
template <> struct Result<double> : NumberResult<double> {
    static constexpr const char *number = "float";
};
template <> struct Result<int64_t> : NumberResult<int64_t> {
    static constexpr const char *number = "int";
};
template <> struct Result<bool> : NumberResult<bool> {
    static constexpr const char *number = "bool";
};

template <class R> constexpr int count_results()
{
    if constexpr (std::is_void_v<R>) return 0;
    else return Result<std::decay_t<R>>::count;
}
template <class R> inline constexpr int count_of = count_results<R>();
}

}
#endif
