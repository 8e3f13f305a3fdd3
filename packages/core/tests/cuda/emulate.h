/* emulate.h - CUDA's words for g++: a launch is two loops, over blocks and over the threads of one. */
#ifndef TD_EMULATE_H
#define TD_EMULATE_H
#define TD_EMULATE 1
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
using namespace std;
static inline float __uint_as_float(uint32_t u) { float f; memcpy(&f, &u, 4); return f; }
static inline uint32_t __float_as_uint(float f) { uint32_t u; memcpy(&u, &f, 4); return u; }
static inline double __longlong_as_double(int64_t u) { double f; memcpy(&f, &u, 8); return f; }
static inline int64_t __double_as_longlong(double f) { int64_t u; memcpy(&u, &f, 8); return u; }
#define __fmaf_rn __builtin_fmaf
#define __fma_rn __builtin_fma
#define TD_IN inline
#define __global__
#define __device__
#define __shared__ static
#define __grid_constant__
#define __launch_bounds__(...)
struct td_dim3 { unsigned x, y, z; };
static thread_local td_dim3 gridDim, blockDim, blockIdx, threadIdx;
static inline uint32_t __umulhi(uint32_t a, uint32_t b) { return (uint32_t)((uint64_t)a * b >> 32); }

/* a kernel by its name, as the stand-in driver finds it */
struct td_emulated { const char *name; int (*run)(unsigned grid, unsigned block, void **arguments); size_t bytes; };
template <class Call> struct td_argument;
template <class Call> struct td_argument<void (*)(Call)> { typedef Call type; };
template <auto Kernel> static int td_launch(unsigned grid, unsigned block, void **arguments)
{
    typedef typename td_argument<decltype(Kernel)>::type Call;
    gridDim = {grid, 1, 1};
    blockDim = {block, 1, 1};
    for (blockIdx.x = 0; blockIdx.x < grid; blockIdx.x++)
        for (threadIdx.x = 0; threadIdx.x < block; threadIdx.x++) Kernel(*(remove_const_t<Call> *)arguments[0]);
    return 0;
}
#define TD_KERNEL(...) {#__VA_ARGS__, td_launch<__VA_ARGS__>, sizeof(typename td_argument<decltype(&__VA_ARGS__)>::type)},
#endif
