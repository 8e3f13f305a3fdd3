/* taeda/binding.hpp - a C++ function as the C function that the core calls. */
#ifndef TAEDA_BINDING_HPP
#define TAEDA_BINDING_HPP
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "taeda/argument.hpp"
#include "taeda/parallel.hpp"
#include "taeda/result.hpp"
#include "taeda/signature.hpp"
#ifdef TAEDA_WITH_CUDA
#include "taeda/cuda_error.hpp"
#endif

namespace taeda TAEDA_HIDDEN {

namespace detail {
/* What is being thrown, as a code and a message. */
TAEDA_RARE inline int32_t translate(taeda_error *error)
{
    const taeda_api &t = api();
    try {
        throw;
    } catch (const Error &e) {
        return t.fail(error, e.code(), e.what());
    } catch (const std::bad_alloc &) {
        return t.fail(error, TAEDA_MEMORY_ERROR, "out of memory");
    } catch (const std::out_of_range &e) {
        return t.fail(error, TAEDA_INDEX_ERROR, e.what());
    } catch (const std::invalid_argument &e) {
        return t.fail(error, TAEDA_VALUE_ERROR, e.what());
    } catch (const std::exception &e) {
        return t.fail(error, TAEDA_RUNTIME_ERROR, e.what());
    } catch (...) {
        return t.fail(error, TAEDA_RUNTIME_ERROR,
                      "the extension threw something that is no std::exception");
    }
}
template <class F> int32_t guarded(taeda_error *error, F &&body)
{
    try {
        body();
        return TAEDA_OK;
    } catch (...) {
        return translate(error);
    }
}

[[noreturn]] TAEDA_RARE inline void wrong_count(int64_t schema, int64_t function)
{
    throw TypeError(concat("the schema has ", schema, " arguments, the C++ function ", function));
}

[[noreturn]] TAEDA_RARE inline void not_written()
{
    throw Error("the schema says that a result is an argument (a!), and the C++ function returned "
                "another tensor: write into the argument, and return it");
}

/* The functions of one operator; lives as long as the library. */
struct Functions {
    void (*cpu)() = nullptr;
    void (*meta)() = nullptr;
    void (*cuda)() = nullptr;
    bool in_place = false; /* the results are arguments: nothing is handed over */
    bool views = false;    /* the schema says that results may lie in the memory of arguments */
};

/* Who writes an argument, which the schema says is the result, may return nothing. */
TAEDA_RARE inline void check_results(const taeda_call &call, int64_t results, bool in_place)
{
    if (results == 0 && in_place) return;
    if (is_listed(call))
        throw TypeError("the schema's result is a list, the C++ function's is none");
    throw TypeError(
        concat("the schema has ", call.output_count, " results, the C++ function gave ", results));
}
template <class R> void check_length(const taeda_call &call, const R &made, bool in_place)
{
    if constexpr (std::is_same_v<R, std::vector<Tensor>>)
        if (!is_listed(call) && int64_t(made.size()) != call.output_count)
            check_results(call, int64_t(made.size()), in_place);
}

TAEDA_RARE inline std::string schema_text(const std::string &name, const char *const *types,
                                          const std::string &result)
{
    std::string made = name + "(";
    for (int i = 0; types[i]; i++) made += concat(i ? ", " : "", types[i], " arg", i);
    return made + ") -> " + result;
}

template <class R> constexpr bool gives_known()
{
    if constexpr (std::is_void_v<R>) return true;
    else return is_known<Result<std::decay_t<R>>>;
}
template <class R, class... A>
inline constexpr bool binds = gives_known<R>() && (is_known<Argument<std::decay_t<A>>> && ...);

template <class R, class... A> struct Binding {
    using Function = R (*)(A...);

    static int32_t cpu(const taeda_call *call)
    {
        return run(*call, static_cast<Functions *>(call->user)->cpu);
    }
    static int32_t cuda(const taeda_call *call)
    {
        return run(*call, static_cast<Functions *>(call->user)->cuda);
    }
    static int32_t meta(const taeda_call *call)
    {
        return run(*call, static_cast<Functions *>(call->user)->meta);
    }
    static std::string schema(const std::string &name)
    {
        const char *types[] = {Argument<std::decay_t<A>>::schema..., nullptr};
        if constexpr (std::is_void_v<R>) return schema_text(name, types, "()");
        else return schema_text(name, types, Result<std::decay_t<R>>::schema());
    }
    static constexpr const char *number()
    {
        if constexpr (std::is_void_v<R>) return "";
        else return Result<std::decay_t<R>>::number;
    }

private:
    static int32_t run(const taeda_call &call, void (*function)())
    {
        return guarded(call.error, [&] {
            apply(call, reinterpret_cast<Function>(function), std::index_sequence_for<A...>{});
        });
    }
    template <size_t... I>
    static void apply(const taeda_call &call, Function function, std::index_sequence<I...>)
    {
        if (call.arg_count != int32_t(sizeof...(A))) wrong_count(call.arg_count, sizeof...(A));
        const Functions &of = *static_cast<Functions *>(call.user);
        if (count_of<R> != any_count && (call.output_count != count_of<R> || is_listed(call)))
            check_results(call, count_of<R>, of.in_place);
        [[maybe_unused]] std::tuple<Argument<std::decay_t<A>>...> arguments{
            Argument<std::decay_t<A>>(call.args[I])...};
        if constexpr (std::is_void_v<R>) {
            [&] {
                Running running;
                function(std::get<I>(arguments).get()...);
            }();
            launched();
        } else {
            auto made = [&] {
                Running running;
                return function(std::get<I>(arguments).get()...);
            }();
            launched();
            check_length(call, made, of.in_place);
            Handing to(call, of.views);
            if (!of.in_place) Result<std::decay_t<R>>::store(made, to);
            else if (!Result<std::decay_t<R>>::is_argument(made)) not_written();
        }
    }
    static void launched()
    {
#ifdef TAEDA_WITH_CUDA
        cuda::check_launches();
#endif
    }
};
}

}
#endif
