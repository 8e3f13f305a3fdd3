/* program.h - kernels: compiled when first needed, loaded once a device. */
#ifndef TD_CUDA_PROGRAM_H
#define TD_CUDA_PROGRAM_H
#include "cuda/device.h"

/* A value: two that are alike are one program. Strings are constants, and compared as pointers. */
typedef struct td_cuda_program {
    const char *kind; /* of taeda/_device_text/families.py, or "loop" */
    const char *how;  /* the kernel: "flat", "strided", "reduce_alone", ... */
    const char *name; /* of a loop, as the op table has it */
    int dtype, from;  /* of a loop: what it computes in; of a cast: to and from */
} td_cuda_program;

/* Give the image and the symbol of a program for an architecture, both to be freed: filled by the
 * binding, which asks Python. `anew`: the driver refused what was kept, so it is compiled again. */
extern td_status (*td_cuda_compile)(const td_cuda_program *want, int arch, bool anew, void **image,
                                    char **symbol);

/* The function on a device whose context is current. */
td_status td_cuda_function(const td_cuda_program *want, int ordinal, void **function);

/* Launch `threads` threads or fewer, whose grid strides over the work, with one argument. */
td_status td_cuda_launch(void *function, int ordinal, int64_t threads, void *argument,
                         const char *doing);
/* The same with so many blocks of so many threads. */
td_status td_cuda_launch_blocks(void *function, int ordinal, int64_t blocks, int threads,
                                void *argument, const char *doing);

/* One work of a family whose kernels take threads that know only their place ("..._alone") or
 * blocks of 64 threads that share a unit ("..._together"). All strings are constants. */
typedef struct td_cuda_work {
    const char *kind, *how, *name;
    td_dtype dtype;
} td_cuda_work;
td_status td_cuda_threads(const td_cuda_work *w, int ordinal, int64_t n, void *call);
td_status td_cuda_blocks(const td_cuda_work *w, int ordinal, int64_t n, void *call);

#endif
