/* taeda/abi.h - the binary interface between taeda and extensions. C, without Python; ABI 1.0.
 *
 * A shared library exports two symbols and links to nothing of ours:
 *
 *     uint32_t taeda_ext_abi(void);                  returns TAEDA_ABI: what it was compiled against
 *     int32_t  taeda_ext_init(const taeda_api *api); registers its kernels; keeps `api`, which lives as long as the process
 *
 * Rules that do not change within major 1: structs only grow at the end and begin with their size; slots of the table
 * are only appended, and each is filled; no argument may be NULL unless its comment says so. A library that asks for a
 * later minor than the core has is refused; one that asks for an earlier minor runs. Test for a later slot with TAEDA_HAS.
 *
 * Threads: kernels may not touch Python. Functions of the table may
 * be called from the thread that called the kernel; bodies of parallel_for may call only data-reading functions. */
#ifndef TAEDA_ABI_H
#define TAEDA_ABI_H
#include <stddef.h>
#include <stdint.h>

#define TAEDA_ABI_MAJOR 1
#define TAEDA_ABI_MINOR 0
#define TAEDA_ABI ((uint32_t)(TAEDA_ABI_MAJOR << 16 | TAEDA_ABI_MINOR))
/* does the running core have this slot? */
#define TAEDA_HAS(api, slot) ((api)->size > offsetof(taeda_api, slot))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct taeda_tensor taeda_tensor; /* opaque: ask through the table */

typedef enum taeda_dtype { /* numbers are part of the ABI */
    TAEDA_BOOL = 0, TAEDA_UINT8 = 1, TAEDA_INT8 = 2, TAEDA_INT16 = 3, TAEDA_INT32 = 4, TAEDA_INT64 = 5, TAEDA_UINT16 = 6,
    TAEDA_UINT32 = 7, TAEDA_UINT64 = 8, TAEDA_FLOAT16 = 9, TAEDA_BFLOAT16 = 10, TAEDA_FLOAT32 = 11, TAEDA_FLOAT64 = 12,
    TAEDA_COMPLEX32 = 13, TAEDA_COMPLEX64 = 14, TAEDA_COMPLEX128 = 15
} taeda_dtype;

typedef enum taeda_code { /* which exception the caller sees */
    TAEDA_OK = 0, TAEDA_RUNTIME_ERROR = 1, TAEDA_TYPE_ERROR = 2, TAEDA_VALUE_ERROR = 3, TAEDA_INDEX_ERROR = 4,
    TAEDA_NOT_IMPLEMENTED = 5, TAEDA_MEMORY_ERROR = 6
} taeda_code;

typedef struct taeda_error { /* owned by the caller of a kernel or function */
    int32_t code;            /* out: taeda_code */
    char message[252];       /* out: UTF-8, ends in NUL */
} taeda_error;

typedef struct taeda_facts {  /* what a tensor is; owned by the caller, the arrays by the tensor */
    uint32_t size;            /* in: sizeof(taeda_facts) */
    int32_t dtype;            /* out: taeda_dtype */
    int32_t ndim;             /* out: 0 to 64 */
    int32_t on_cpu;           /* out: 1, or 0 for a tensor without memory (meta) */
    int64_t numel;            /* out */
    const int64_t *sizes;     /* out: ndim numbers, valid while the tensor lives */
    const int64_t *strides;   /* out: ndim steps, in elements */
    void *data;               /* out: first element; NULL on meta and for empty tensors */
} taeda_facts;

typedef struct taeda_call {            /* one call of a kernel; owned by the core, valid until the kernel returns */
    uint32_t size;                     /* sizeof the core's struct */
    int32_t input_count, output_count; /* outputs: as registered */
    const taeda_tensor *const *inputs; /* borrowed */
    taeda_tensor **outputs;            /* the kernel fills each with a tensor of its own; the core takes them over */
    void *user;                        /* as registered */
    taeda_error *error;                /* filled before a non-zero return */
} taeda_call;

/* Returns 0, or a taeda_code with call->error filled. */
typedef int32_t (*taeda_kernel)(const taeda_call *call);
typedef void (*taeda_range)(void *context, int64_t begin, int64_t end);

typedef struct taeda_api {
    uint32_t size, major, minor, reserved;
    /* Facts of a tensor. `facts->size` must be set. Returns 0 or a code. */
    int32_t (*facts)(const taeda_tensor *tensor, taeda_facts *facts); /* 1.0 */
    /* A new tensor of unset elements, row-major, on the cpu (or without memory if `on_cpu` is 0): *out, owned by the caller. */
    int32_t (*empty)(int32_t dtype, int32_t ndim, const int64_t *sizes, int32_t on_cpu, taeda_tensor **out, taeda_error *error); /* 1.0 */
    /* A row-major copy, or another handle on the same memory if it is row-major already: *out, owned by the caller. */
    int32_t (*contiguous)(const taeda_tensor *tensor, taeda_tensor **out, taeda_error *error); /* 1.0 */
    /* Give a tensor of one's own back. NULL is fine. */
    void (*release)(taeda_tensor *tensor); /* 1.0 */
    /* Fill an error and return `code`; the message is cut at 251 bytes. */
    int32_t (*fail)(taeda_error *error, int32_t code, const char *message); /* 1.0 */
    /* Run body over [0, n) in chunks of at least `grain`, on the core's threads. */
    void (*parallel_for)(int64_t n, int64_t grain, taeda_range body, void *context); /* 1.0 */
    /* Only inside taeda_ext_init: offer a kernel under a name; the text is copied. */
    int32_t (*register_kernel)(const char *name, int32_t input_count, int32_t output_count, taeda_kernel kernel, void *user); /* 1.0 */
} taeda_api;

#ifdef __cplusplus
}
#endif
#endif
