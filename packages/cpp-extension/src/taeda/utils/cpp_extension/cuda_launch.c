/* cuda_launch.c - remembers a kernel launch that failed, for `f<<<blocks, threads>>>(...)` throws
 * that away.
 *
 * Linked into extensions with CUDA code with -Wl,--wrap for both names that nvcc calls;
 * cuda_error.hpp asks after each call. */
#include <stddef.h>

typedef struct dim3 {
    unsigned x, y, z;
} dim3;
typedef int launch(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                   void *stream);
/* Weak: each release of the runtime library has one of them or both. */
extern __attribute__((weak)) launch __real_cudaLaunchKernel, __real___cudaLaunchKernel;

static _Thread_local int first_error;

static int noted(int error)
{
    if (error && !first_error) first_error = error;
    return error;
}

__attribute__((visibility("hidden"))) int __wrap_cudaLaunchKernel(const void *k, dim3 g, dim3 b,
                                                                  void **a, size_t m, void *s)
{
    return noted(__real_cudaLaunchKernel(k, g, b, a, m, s));
}

__attribute__((visibility("hidden"))) int __wrap___cudaLaunchKernel(const void *k, dim3 g, dim3 b,
                                                                    void **a, size_t m, void *s)
{
    return noted(__real___cudaLaunchKernel(k, g, b, a, m, s));
}

/* The first failure of this thread since it was last asked, a cudaError_t; 0 if there is none. */
__attribute__((visibility("hidden"))) int taeda_cuda_launch_error(void)
{
    int error = first_error;
    first_error = 0;
    return error;
}
