/* emulate.h - CUDA's words for g++: a launch is two loops, over blocks and over the threads of one;
 * where threads wait for each other (kernels called td_..._together) they are fibers of one host
 * thread. */
#ifndef TD_EMULATE_H
#define TD_EMULATE_H
#define TD_EMULATE 1
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
using namespace std;
static inline float __uint_as_float(uint32_t u)
{
    float f;
    memcpy(&f, &u, 4);
    return f;
}
static inline uint32_t __float_as_uint(float f)
{
    uint32_t u;
    memcpy(&u, &f, 4);
    return u;
}
static inline double __longlong_as_double(int64_t u)
{
    double f;
    memcpy(&f, &u, 8);
    return f;
}
static inline int64_t __double_as_longlong(double f)
{
    int64_t u;
    memcpy(&u, &f, 8);
    return u;
}
#define __fmaf_rn __builtin_fmaf
#define __fma_rn __builtin_fma
#define TD_IN inline
#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
struct td_dim3 {
    unsigned x, y, z;
};
static thread_local td_dim3 gridDim, blockDim, blockIdx, threadIdx;
static inline uint32_t __umulhi(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}

/* ---- threads that wait for each other: fibers, each of which runs to its next barrier in turn
 * ---- */
#ifdef __x86_64__
/* A switch is the stack's address and the six registers that a called function keeps: ucontext asks
 * the system for the mask of signals each time, which took nine tenths of the time of products. */
typedef void *td_stack_top;
__attribute__((naked, noinline)) static void td_switch(td_stack_top *, td_stack_top *)
{
    __asm__("pushq %rbp\n\tpushq %rbx\n\tpushq %r12\n\tpushq %r13\n\tpushq %r14\n\tpushq "
            "%r15\n\tmovq %rsp, (%rdi)\n\tmovq (%rsi), %rsp\n\tpopq %r15\n\tpopq %r14\n\tpopq "
            "%r13\n\tpopq %r12\n\tpopq %rbx\n\tpopq %rbp\n\tret");
}
/* a stack from which the first switch returns into `main`, aligned as at a call */
static inline void td_begin(td_stack_top *at, void *stack, size_t bytes, void (*main)())
{
    void **top = (void **)((uintptr_t)((char *)stack + bytes) & ~(uintptr_t)15);
    *--top = nullptr;
    *--top = (void *)main;
    for (int i = 0; i < 6; i++) *--top = nullptr;
    *at = top;
}
#else
#include <ucontext.h>
typedef ucontext_t td_stack_top;
static inline void td_switch(td_stack_top *from, td_stack_top *to) { swapcontext(from, to); }
static inline void td_begin(td_stack_top *at, void *stack, size_t bytes, void (*main)())
{
    getcontext(at);
    at->uc_stack.ss_sp = stack;
    at->uc_stack.ss_size = bytes;
    at->uc_link = nullptr;
    makecontext(at, main, 0);
}
#endif
struct td_fiber {
    td_stack_top at;
    void *stack;
    bool ended;
    const char *file; /* of the barrier where it waits */
    int line;
};
static thread_local td_fiber td_fibers[1024], *td_running;
static thread_local td_stack_top td_scheduler;
static thread_local void (*td_body)(void *);
static thread_local void *td_body_argument;
static void td_fiber_main()
{
    td_body(td_body_argument);
    td_running->ended = true;
    td_switch(&td_running->at, &td_scheduler);
}
static inline void td_wait_at(const char *file, int line)
{
    td_fiber *me = td_running;
    me->file = file;
    me->line = line;
    td_switch(&me->at, &td_scheduler);
}
#define __syncthreads() td_wait_at(__FILE__, __LINE__)
/* A device's barrier is one instruction that all threads of a warp must reach together: two of the
 * same meaning on two ways of a branch are undefined there. */
static inline bool td_same_barrier(const td_fiber *a, const td_fiber *b)
{
    return a->line == b->line && (a->file == b->file || !strcmp(a->file, b->file));
}
/* 1 for threads that wait at different barriers, or where some have ended and others wait */
static inline int td_run_block(unsigned threads, void (*body)(void *), void *argument)
{
    enum { STACK = 64 << 10 };
    td_body = body;
    td_body_argument = argument;
    for (unsigned i = 0; i < threads; i++) {
        td_fiber *f = &td_fibers[i];
        if (!f->stack) f->stack = malloc(STACK);
        td_begin(&f->at, f->stack, STACK, td_fiber_main);
        f->ended = false;
    }
    for (unsigned ended = 0; ended < threads;) {
        if (ended) return 1;
        for (unsigned i = 0; i < threads; i++) {
            td_running = &td_fibers[i];
            threadIdx = {i, 0, 0};
            td_switch(&td_scheduler, &td_running->at);
            ended += td_running->ended;
            if (!ended && !td_same_barrier(td_running, td_fibers)) return 1;
        }
    }
    return 0;
}

/* a kernel by its name, as the stand-in driver finds it */
struct td_emulated {
    const char *name;
    int (*run)(unsigned grid, unsigned block, void **arguments);
    size_t bytes;
};
template <class Call> struct td_argument;
template <class Call> struct td_argument<void (*)(Call)> {
    typedef Call type;
};
template <auto Kernel, bool Together>
static int td_launch(unsigned grid, unsigned block, void **arguments)
{
    typedef typename td_argument<decltype(Kernel)>::type Call;
    gridDim = {grid, 1, 1};
    blockDim = {block, 1, 1};
    for (blockIdx.x = 0; Together && blockIdx.x < grid; blockIdx.x++)
        if (td_run_block(
                block, [](void *call) { Kernel(*(remove_const_t<Call> *)call); }, arguments[0]))
            return 1;
    for (blockIdx.x = 0; !Together && blockIdx.x < grid; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++)
            Kernel(*(remove_const_t<Call> *)arguments[0]);
    return 0;
}
/* kernels with barriers say so by their names */
constexpr bool td_is_together(const char *name)
{
    const char *word = "_together<";
    for (; *name; name++) {
        int k = 0;
        while (word[k] && name[k] == word[k]) k++;
        if (!word[k]) return true;
    }
    return false;
}
#define TD_KERNEL(...)                                                   \
    {#__VA_ARGS__, td_launch<__VA_ARGS__, td_is_together(#__VA_ARGS__)>, \
     sizeof(typename td_argument<decltype(&__VA_ARGS__)>::type)},
#endif
