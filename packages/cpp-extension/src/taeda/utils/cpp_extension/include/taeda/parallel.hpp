/* taeda/parallel.hpp - loops on the core's threads. */
#ifndef TAEDA_PARALLEL_HPP
#define TAEDA_PARALLEL_HPP
#include <atomic>
#include <exception>
#include <type_traits>

#include "taeda/error.hpp"

namespace taeda TAEDA_HIDDEN {

namespace detail {
template <class F> struct Loop {
    F &body;
    int64_t first;
    Loop(F &f, int64_t begin) : body(f), first(begin) {}
    std::atomic_flag failed = ATOMIC_FLAG_INIT;
    /* the first; the core's end of the loop orders it before whoever reads */
    std::exception_ptr thrown;

    static void run(void *context, int64_t begin, int64_t end)
    {
        Loop &loop = *static_cast<Loop *>(context);
        try {
            loop.body(loop.first + begin, loop.first + end);
        } catch (...) {
            if (!loop.failed.test_and_set()) loop.thrown = std::current_exception();
        }
    }
};
}
/* In the thread of a bound function: Python's lock is given up while the object lives. Whoever
 * waits for a thread that calls operators needs one. */
class WithoutPython {
public:
    WithoutPython() : token_(api().python_release()) {}
    WithoutPython(const WithoutPython &) = delete;
    WithoutPython &operator=(const WithoutPython &) = delete;
    ~WithoutPython() { api().python_acquire(token_); }

private:
    void *token_;
};
namespace detail {
/* Around a bound function. A library that is compiled for OpenMP or threads (-fopenmp, -pthread)
 * may wait for threads of its own, and they may call operators: it runs without Python's lock, and
 * each operator takes it. */
#if defined(_OPENMP) || defined(_REENTRANT)
using Running = WithoutPython;
#else
struct Running {
    Running() {} /* not trivial: no warning of an unused variable */
};
#endif
}

/* Run body(begin, end) over [begin, end) on the core's threads, in pieces of at least `grain`. The
 * body may read and write data, make tensors, call operators, and throw. An operator in it runs on
 * the body's own thread, under Python's lock: use them for what is rare in a loop. */
template <class F> void parallel_for(int64_t begin, int64_t end, int64_t grain, F &&body)
{
    if (begin >= end) return;
    detail::Loop<std::remove_reference_t<F>> loop{body, begin};
    api().parallel_for(end - begin, grain, decltype(loop)::run, &loop);
    if (loop.thrown) std::rethrow_exception(loop.thrown);
}

}
#endif
