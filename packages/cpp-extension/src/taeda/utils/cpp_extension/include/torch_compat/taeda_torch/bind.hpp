/* taeda_torch/bind.hpp - any C++ function as what the core calls. */
#ifndef TAEDA_TORCH_BIND_HPP
#define TAEDA_TORCH_BIND_HPP
#include <functional>
#include <memory>
#include <typeinfo>

#include "taeda_torch/container.hpp"
#include "taeda_torch/convert.hpp"
#include "taeda_torch/object.hpp"
#include "taeda_torch/record.hpp"

namespace at TAEDA_HIDDEN {
namespace detail {

class Callable;
/* What runs for one operator; lives as long as the library. */
struct Entry {
    std::shared_ptr<const Callable> by_device[3]; /* taeda_device: cpu, meta, cuda */
    bool in_place = false, views = false, recorded = false;
};

class Callable {
public:
    virtual ~Callable() = default;
    virtual void call(const taeda_call &call, const Entry &entry) const = 0;
    /* std::function<signature> *, if the type is that of the signature; else null */
    virtual const void *as(const std::type_info &signature) const = 0;
    std::vector<const char *> types; /* of the arguments, in schemas */
    taeda::detail::Signature signature{};
    std::string kinds;
};

inline constexpr size_t most_results = 16; /* of an operator of the table */
inline bool has_list(const std::string &kinds) { return kinds.find('[') != std::string::npos; }
/* How many tensors the kinds name, a list as one. */
inline size_t crossing(const std::string &kinds)
{
    return size_t(
        std::count_if(kinds.begin(), kinds.end(), [](char c) { return c != '(' && c != ')'; }));
}
/* Do the results, and a record of them, cross as one Tensor[]? */
inline bool crosses_as_list(const std::string &kinds, bool recorded)
{
    return has_list(kinds) || crossing(kinds) + recorded > most_results;
}

/* Hand results over. A record of them comes first, then the lengths of all lists, if more than one
 * list comes. */
inline void deliver(const Results &made, const std::string &kinds, const taeda_call &call,
                    const Entry &entry, const Tensor &record)
{
    taeda::detail::Handing to(call, entry.views);
    bool lengths = has_list(kinds) && kinds != "[";
    size_t count = made.tensors().size() + lengths + entry.recorded;
    if (taeda::detail::is_listed(call)) to.open(int64_t(count));
    else if (count != size_t(call.output_count))
        taeda::detail::check_results(call, int64_t(count - entry.recorded), entry.in_place);
    if (entry.recorded) to.put(record.defined() ? record.handle() : taeda::Tensor());
    if (lengths)
        to.put(from_values(made.lengths().data(), made.lengths().size(),
                           int64_t(made.lengths().size()), kLong)
                   .handle());
    for (const taeda::Tensor &x : made.tensors()) to.put(x);
}

template <class F, class R, class... A> class Bound final : public Callable {
public:
    explicit Bound(F f) : function_(std::move(f))
    {
        types = {taeda::detail::Argument<std::decay_t<A>>::schema...};
        kinds = Out<std::decay_t<R>>::kinds();
        signature = {taeda::detail::signature_of<void, A...>().arguments, int(sizeof...(A)),
                     crosses_as_list(kinds, false) ? taeda::detail::any_count
                                                   : int(crossing(kinds))};
    }
    void call(const taeda_call &call, const Entry &entry) const override
    {
        apply(call, entry, std::index_sequence_for<A...>{});
    }
    const void *as(const std::type_info &signature) const override
    {
        return signature == typeid(R(A...)) ? &function_ : nullptr;
    }

private:
    template <size_t... I>
    void apply(const taeda_call &call, const Entry &entry, std::index_sequence<I...>) const
    {
        if (call.arg_count != int32_t(sizeof...(A)) + entry.recorded)
            taeda::detail::wrong_count(call.arg_count - entry.recorded, sizeof...(A));
        [[maybe_unused]] std::tuple<taeda::detail::Argument<std::decay_t<A>>...> arguments{
            taeda::detail::Argument<std::decay_t<A>>(call.args[I])...};
        Recording recording(call, entry.recorded);
        if constexpr (std::is_void_v<R>) {
            [&] {
                taeda::detail::Running running;
                function_(static_cast<A &&>(
                    const_cast<std::decay_t<A> &>(std::get<I>(arguments).get()))...);
            }();
            launched();
            if (!entry.in_place) deliver(Results(), kinds, call, entry, Tensor());
        } else {
            std::decay_t<R> made = [&]() -> R {
                taeda::detail::Running running;
                return function_(static_cast<A &&>(
                    const_cast<std::decay_t<A> &>(std::get<I>(arguments).get()))...);
            }();
            launched();
            finish(made, call, entry, recording);
        }
    }
    template <class T>
    void finish(const T &made, const taeda_call &call, const Entry &entry,
                Recording &recording) const
    {
        if constexpr (std::is_same_v<T, Tensor>)
            if (!entry.in_place && !entry.recorded && call.output_count == 1)
                return taeda::detail::Handing(call, entry.views)
                    .put(made.defined() ? made.handle() : taeda::Tensor());
        Results results;
        Out<T>::put(made, results);
        if (!entry.in_place)
            return deliver(results, kinds, call, entry,
                           recording.close(results.tensors(), has_list(kinds) && kinds != "["));
        for (const taeda::Tensor &x : results.tensors())
            if (!x.is_argument()) taeda::detail::not_written();
    }
    static void launched()
    {
#ifdef TAEDA_WITH_CUDA
        taeda::cuda::check_launches();
#endif
    }
    std::function<R(A...)> function_;
};

/* A function of types that do not cross: Python finds its name, and an exception. */
class Refused final : public Callable {
public:
    Refused() { kinds = "!"; }
    void call(const taeda_call &, const Entry &) const override
    {
        throw NotImplementedError("a Dict does not cross");
    }
    const void *as(const std::type_info &) const override { return nullptr; }
};

/* ---- from a function, or an object that is called ---- */
/* Is there a way across for all? What has none does not compile; a Dict does, and is refused. */
template <class R, class... A> constexpr bool all_cross()
{
    if constexpr ((crosses<std::decay_t<R>> && ... && crosses<std::decay_t<A>>))
        return taeda::detail::is_known<Out<std::decay_t<R>>> &&
               (taeda::detail::is_known<taeda::detail::Argument<std::decay_t<A>>> && ...);
    else return false;
}
template <class F> struct Signature : Signature<decltype(&F::operator())> {};
template <class R, class... A> struct Signature<R (*)(A...)> {
    template <class F>
    using Made = std::conditional_t<all_cross<R, A...>(), Bound<F, R, A...>, Refused>;
};
template <class R, class... A> struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <class C, class R, class... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
template <class F> std::shared_ptr<const Callable> bound(F &&f)
{
    using Kept = std::decay_t<F>;
    using Made = typename Signature<Kept>::template Made<Kept>;
    if constexpr (std::is_same_v<Made, Refused>) return std::make_shared<Refused>();
    else return std::make_shared<Made>(std::forward<F>(f));
}

inline int32_t run(const taeda_call *call)
{
    const Entry &entry = *static_cast<const Entry *>(call->user);
    return taeda::detail::guarded(
        call->error, [&] { entry.by_device[TAEDA_DEVICE_TYPE(call->device)]->call(*call, entry); });
}

}
}
#endif
