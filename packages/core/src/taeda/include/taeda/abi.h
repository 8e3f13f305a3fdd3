/* taeda/abi.h - the binary interface between taeda and extensions. C, without Python; ABI 1.5.
 *
 * A shared library exports two symbols and links to nothing of ours:
 *
 *     uint32_t taeda_ext_abi(void);                  returns TAEDA_ABI: what it was compiled against
 *     int32_t  taeda_ext_init(const taeda_api *api); registers its operators; keeps `api`, which lives as long as the process
 *
 * Rules that do not change within major 1: structs only grow at the end and begin with their size
 * (taeda_error and taeda_value never change); slots of the table are only appended, and each is
 * filled; no argument may be NULL unless its comment says so. A library that asks for a later minor
 * than the core has is refused; one that asks for an earlier minor runs. A library that can do
 * without a later slot returns TAEDA_ABI_OF(1, 0) from taeda_ext_abi and tests for the slot with
 * TAEDA_HAS.
 *
 * Errors: a function that can fail returns 0, or a taeda_code with *error filled; out parameters
 * are set only on success.
 *
 * Owners: a `taeda_tensor **out` that a function fills belongs to the caller, who gives it back
 * with `release`, or hands it on as an output of a kernel. Tensors that come in are borrowed until
 * the kernel returns. Text and arrays passed to the table are copied before it returns.
 *
 * Kinds: a taeda_value whose kind a library does not know must be refused, never read. The core
 * keeps to it, too: it sends a library only kinds of the minor that its taeda_ext_abi names, and
 * refuses a call that needs a later one.
 *
 * Threads: a kernel may not touch Python, and is called by one thread at a time for each call. It
 * holds Python's lock, unless it gives it up with `python_release` (1.2). Functions of the table
 * may be called from the thread that called the kernel; `find_op`, `call_op`, `scratch`,
 * `scratch_free`, `random_bits` from any thread. `find_op` and `call_op` ask for Python's lock: a
 * kernel that waits for a thread of its own which calls them must have given the lock up, or both
 * wait for ever; parallel_for gives it up. Bodies of parallel_for may call all but `random_reserve`
 * and what belongs into taeda_ext_init; `fail` with an error of their own (up to 1.3:
 * `facts`, `dtype_facts`, `fail`, `scratch`, `scratch_free` and `random_bits` alone). An operator
 * in a body runs on one thread, without modes of the caller's such as autocast, on any number of
 * threads. What `facts` says of an input holds until the kernel returns.
 *
 * Devices (1.3): a device number is a taeda_device with an index, TAEDA_DEVICE(TAEDA_CUDA, 1); the
 * index of the cpu and of meta is 0. On a CUDA device memory belongs to the device: `data` of
 * `facts` is an address there. Work is queued on the stream that `current_stream` gives; a kernel
 * does not wait for it, and what it queued there comes before what the core queues later. A library
 * built for an earlier minor is never called for CUDA tensors. Tensors that a factory makes for
 * call_op lie on the cpu unless a device is among the arguments.
 *
 * Nothing may unwind through a function of this interface: no C++ exception leaves a kernel or a
 * body, and neither ends its thread (pthread_exit, pthread_cancel). The core unwinds through
 * nobody's frames either: a thread that is inside the table while the interpreter ends stays there.
 * taeda.hpp turns exceptions into codes. */
#ifndef TAEDA_ABI_H
#define TAEDA_ABI_H
#include <stddef.h>
#include <stdint.h>

#define TAEDA_ABI_MAJOR 1
#define TAEDA_ABI_MINOR 5
#define TAEDA_ABI_OF(major, minor) ((uint32_t)((major) << 16 | (minor)))
#define TAEDA_ABI TAEDA_ABI_OF(TAEDA_ABI_MAJOR, TAEDA_ABI_MINOR)
/* does the running core have this slot? */
#define TAEDA_HAS(api, slot) ((api)->size > offsetof(taeda_api, slot))

#ifdef __cplusplus
extern "C" {
#endif

typedef struct taeda_tensor taeda_tensor; /* opaque: ask through the table */
/* opaque, 1.1: an operator of the table; lives as long as the process */
typedef struct taeda_op taeda_op;
/* opaque, 1.2: a stream of random numbers; borrowed until the kernel returns */
typedef struct taeda_generator taeda_generator;
struct DLManagedTensorVersioned; /* 1.2: of dlpack.h, which whoever uses it includes */

typedef enum taeda_dtype { /* numbers are part of the ABI; later dtypes get later numbers */
                           TAEDA_BOOL = 0,
                           TAEDA_UINT8 = 1,
                           TAEDA_INT8 = 2,
                           TAEDA_INT16 = 3,
                           TAEDA_INT32 = 4,
                           TAEDA_INT64 = 5,
                           TAEDA_UINT16 = 6,
                           TAEDA_UINT32 = 7,
                           TAEDA_UINT64 = 8,
                           TAEDA_FLOAT16 = 9,
                           TAEDA_BFLOAT16 = 10,
                           TAEDA_FLOAT32 = 11,
                           TAEDA_FLOAT64 = 12,
                           TAEDA_COMPLEX32 = 13,
                           TAEDA_COMPLEX64 = 14,
                           TAEDA_COMPLEX128 = 15
} taeda_dtype;

typedef enum taeda_code { /* which exception the caller sees */
                          TAEDA_OK = 0,
                          TAEDA_RUNTIME_ERROR = 1,
                          TAEDA_TYPE_ERROR = 2,
                          TAEDA_VALUE_ERROR = 3,
                          TAEDA_INDEX_ERROR = 4,
                          TAEDA_NOT_IMPLEMENTED = 5,
                          TAEDA_MEMORY_ERROR = 6
} taeda_code;

/* 1.1 */
typedef enum taeda_device {
    TAEDA_CPU = 0,
    TAEDA_META = 1 /* shapes without memory */,
    TAEDA_CUDA = 2
} taeda_device;
/* 1.3: a device number of type and index, and its parts */
#define TAEDA_DEVICE(type, index) ((int32_t)(type) | (int32_t)(index) << 8)
#define TAEDA_DEVICE_TYPE(device) ((device) & 0xff)
#define TAEDA_DEVICE_INDEX(device) ((device) >> 8)

typedef enum taeda_category { /* 1.1: of a dtype */
                              TAEDA_CATEGORY_BOOL = 0,
                              TAEDA_CATEGORY_INTEGRAL = 1,
                              TAEDA_CATEGORY_FLOAT = 2,
                              TAEDA_CATEGORY_COMPLEX = 3,
                              TAEDA_CATEGORY_QUANTIZED = 4
} taeda_category;

typedef struct taeda_error { /* owned by the caller of a kernel or function; never changes */
    int32_t code;            /* out: taeda_code */
    char message[252];       /* out: UTF-8, ends in NUL */
} taeda_error;

typedef struct taeda_facts { /* what a tensor is; owned by the caller, the arrays by the tensor */
    /* in: sizeof(taeda_facts); what a shorter, earlier struct lacks is not written */
    uint32_t size;
    int32_t dtype;          /* out: taeda_dtype */
    int32_t ndim;           /* out: 0 to 64 */
    int32_t on_cpu;         /* out: 1, or 0 for a tensor elsewhere: on meta or, 1.3, on cuda */
    int64_t numel;          /* out */
    const int64_t *sizes;   /* out: ndim numbers, valid while the tensor lives */
    const int64_t *strides; /* out: ndim steps, in elements */
    void *data;             /* out: first element; NULL on meta and for empty tensors */
    int32_t device;         /* out, 1.1: taeda_device; since 1.3 a device number */
    int32_t is_contiguous;  /* out, 1.1: 1 if the elements lie in row-major order without gaps */
    int64_t itemsize;       /* out, 1.1: bytes of one element */
    int64_t offset;         /* out, 1.1: elements between the start of the memory and `data` */
    /* out, 1.5: grows with each write in place that the core sees: who kept a tensor finds out
     * whether it is as it was */
    uint64_t version;
} taeda_facts;

typedef enum taeda_kind { /* 1.1: which member of a taeda_value holds */
                          /* an optional argument that is None; as an argument of call_op: its
                             default */
                          TAEDA_KIND_NONE = 0,
                          TAEDA_KIND_TENSOR = 1,  /* as.tensor */
                          TAEDA_KIND_TENSORS = 2, /* as.tensors, count */
                          TAEDA_KIND_BOOL = 3,    /* as.integer: 0 or 1 */
                          TAEDA_KIND_INT = 4,     /* as.integer */
                          TAEDA_KIND_FLOAT = 5,   /* as.real */
                          TAEDA_KIND_COMPLEX = 6, /* as.pair: real and imaginary part */
                          TAEDA_KIND_STRING = 7,  /* as.string: UTF-8, ends in NUL */
                          TAEDA_KIND_DTYPE = 8,   /* as.integer: taeda_dtype */
                          TAEDA_KIND_DEVICE = 9,  /* as.integer: device number */
                          /* as.integer: 0 contiguous, 1 preserve, 2 channels_last, 3
                             channels_last_3d */
                          TAEDA_KIND_MEMORY_FORMAT = 10,
                          TAEDA_KIND_BOOLS = 11,  /* as.integers, count: 0 or 1 each */
                          TAEDA_KIND_INTS = 12,   /* as.integers, count */
                          TAEDA_KIND_FLOATS = 13, /* as.reals, count */
                          /* 1.2: as.generator; of None, and of the default generator, the kind is
                             NONE */
                          TAEDA_KIND_GENERATOR = 14,
                          TAEDA_KIND_UINT = 15 /* 1.2: as.natural: an int above INT64_MAX; others
                                                  are of kind INT */
} taeda_kind;

/* 1.1: an argument or result of any type; 32 bytes, never changes, as arrays of it are passed */
typedef struct taeda_value {
    int32_t kind;     /* taeda_kind */
    int32_t reserved; /* 0 */
    int64_t count;    /* entries of a list; 0 otherwise */
    union {
        /* as an argument: borrowed; as a result of call_op: the caller's own */
        taeda_tensor *tensor;
        /* borrowed; an entry of a Tensor?[] argument may be NULL */
        taeda_tensor *const *tensors;
        int64_t integer;
        double real;
        double pair[2];
        const int64_t *integers;    /* borrowed */
        const double *reals;        /* borrowed */
        const char *string;         /* borrowed */
        taeda_generator *generator; /* 1.2: borrowed */
        uint64_t natural;           /* 1.2 */
    } as;
} taeda_value;

/* one call of a kernel; owned by the core, valid until the kernel returns */
typedef struct taeda_call {
    uint32_t size; /* sizeof the core's struct */
    /* outputs: as registered, or one for each result of the schema; 0 where it is Tensor[] */
    int32_t input_count, output_count;
    const taeda_tensor *const
        *inputs; /* borrowed. Of an operator with a schema: its Tensor and Tensor? arguments in
                  * order (not Tensor[]), NULL for a Tensor? that is None */
    taeda_tensor **outputs; /* the kernel fills each with a tensor of its own; the core takes them
                             * over, and after a failure releases what was filled. A result that the
                             * schema marks (a!) is that argument itself: leave it NULL. A
                             * derivative leaves a gradient that is not wanted NULL */
    void *user;             /* as registered */
    taeda_error *error;     /* filled before a non-zero return */
    /* 1.1: arguments of the schema; 0 for a kernel of register_kernel */
    int32_t arg_count;
    /* 1.1: device number of the call; on TAEDA_META the kernel makes its outputs and stops. 1.3: on
     * a CUDA device its context is current on this thread */
    int32_t device;
    /* 1.1: every argument, in schema order, defaults filled in; borrowed */
    const taeda_value *args;
    void *core; /* 1.5: the core's own, for list_outputs; NULL unless the result is Tensor[] */
} taeda_call;

/* Returns 0, or a taeda_code with call->error filled. Inputs may be written only where the schema
 * says (a!). Outputs may not share memory with inputs, unless the schema says so. */
typedef int32_t (*taeda_kernel)(const taeda_call *call);
typedef void (*taeda_range)(void *context, int64_t begin, int64_t end);

typedef struct taeda_dtype_facts { /* 1.1: what a dtype is; owned by the caller */
    uint32_t size;                 /* in: sizeof(taeda_dtype_facts) */
    int32_t category;              /* out: taeda_category */
    int32_t itemsize;              /* out: bytes */
    int32_t is_signed;             /* out: 1 if it has negative values */
    const char *name;              /* out: "float32"; lives as long as the process */
} taeda_dtype_facts;

typedef struct taeda_op_def { /* 1.1: a new operator; read while define_op runs */
    uint32_t size;            /* in: sizeof(taeda_op_def) */
    uint32_t flags;           /* in: 0 */
    /* in: "mylib::scale(Tensor x, float by=2) -> Tensor"; a namespace is wanted, at most 16
     * arguments, results are Tensors (at most 16, up to 1.3: 6; or none). A result that is Tensor?
     * may be left NULL. 1.5: or the one result is Tensor[], or Tensor?[], whose entries may be
     * NULL; a library for an earlier minor is refused */
    const char *schema;
    taeda_kernel cpu; /* in: NULL if there is none; a call on the cpu is then refused */
    /* in: makes outputs of the right shape and dtype without memory. NULL: a call on meta is
     * refused */
    taeda_kernel meta;
    /* in: NULL if there is none: a call on a CUDA device is then refused. Since 1.3; of a library
     * for an earlier minor it is kept and never called */
    taeda_kernel cuda;
    void *user;      /* in: passed to the kernels as call->user; may be NULL */
    const char *doc; /* in: one sentence; "" if there is none */
} taeda_op_def;

/* 1.1: the derivative of an operator; read while define_derivative runs.
 *
 * It is an operator itself, named or defined here, which returns one Tensor for each Tensor
 * argument of `op`, in order; 1.5: a Tensor[] for the one Tensor[] argument of an `op` that has no
 * other. What it gets is said by the names of its arguments:
 *     grad                       Tensor: gradient of the first result
 *     grads                      Tensor?[]: gradients of all results, None where there is none
 *     an argument of `op`        that argument
 *     result, result0, ...       a result of `op`
 *     x_shape, x_strides         int[]: of the Tensor argument x, without keeping its memory
 *     needs                      bool[]: which Tensor arguments want a gradient; others may be left NULL
 * It may have a derivative of its own: that gives second derivatives. */
typedef struct taeda_derivative {
    uint32_t size;  /* in: sizeof(taeda_derivative) */
    uint32_t flags; /* in: 0 */
    const char *op; /* in: "mylib::scale", defined by this library */
    /* in: the name of an operator of the table, or the schema of one to define with the kernels
     * below */
    const char *backward;
    taeda_kernel cpu, meta, cuda; /* in: as in taeda_op_def; NULL where `backward` is a name */
    void *user;                   /* in: as in taeda_op_def; may be NULL */
} taeda_derivative;

typedef struct taeda_op_call { /* 1.1: a call of an operator by an extension; owned by the caller */
    uint32_t size;             /* in: sizeof(taeda_op_call) */
    int32_t arg_count;         /* in: how many; arguments after these take their defaults */
    const taeda_op *op;        /* in: from find_op */
    /* in: in schema order; NULL if arg_count is 0. A BOOL, INT, FLOAT or COMPLEX may stand for a
     * Tensor where Python may write a number */
    const taeda_value *args;
    /* in: room for the results; NULL if there is none. A Tensor[] result fills one for each tensor
     */
    taeda_value *results;
    /* in: how many fit; if more come, `room` is asked, or nothing is handed over and the error
     * names the number. (To call again with more room would do again what the operator writes.) */
    int32_t result_capacity;
    int32_t result_count; /* out: how many there are */
    taeda_error *error;   /* out: filled before a non-zero return */
    /* 1.4, in: called at most once, when more results come than fit: room for `count` of them, or
     * NULL. It becomes `results`. NULL: there is none */
    taeda_value *(*room)(void *context, int32_t count);
    void *context; /* 1.4, in: passed to `room` */
} taeda_op_call;

typedef struct taeda_random { /* 1.2: a part of a stream of random bits; owned by the caller */
    uint32_t size;            /* in: sizeof(taeda_random) */
    uint32_t reserved;        /* out: 0 */
    /* out: Philox4x32-10 with `seed` as key; block i has counter offset + i */
    uint64_t seed, offset;
} taeda_random;

typedef struct taeda_api {
    uint32_t size, major, minor, reserved;
    /* Facts of a tensor. `facts->size` must be set. Returns 0 or a code. */
    int32_t (*facts)(const taeda_tensor *tensor, taeda_facts *facts); /* 1.0 */
    /* A new tensor of unset elements, row-major, on the cpu (or without memory if `on_cpu` is 0):
     * *out, owned by the caller. */
    /* 1.0 */
    int32_t (*empty)(int32_t dtype, int32_t ndim, const int64_t *sizes, int32_t on_cpu,
                     taeda_tensor **out, taeda_error *error);
    /* A row-major copy, or another handle on the same memory if it is row-major already: *out,
     * owned by the caller. */
    /* 1.0 */
    int32_t (*contiguous)(const taeda_tensor *tensor, taeda_tensor **out, taeda_error *error);
    /* Give a tensor of one's own back. NULL is fine. */
    void (*release)(taeda_tensor *tensor); /* 1.0 */
    /* Fill an error and return `code`; the message is cut at 251 bytes. */
    int32_t (*fail)(taeda_error *error, int32_t code, const char *message); /* 1.0 */
    /* Run body over [0, n) in chunks of at least `grain`, on the core's threads; Python's lock is
     * given up if there are several chunks. A call inside a body runs serially. */
    void (*parallel_for)(int64_t n, int64_t grain, taeda_range body, void *context); /* 1.0 */
    /* Only inside taeda_ext_init: offer a kernel under a name; the text is copied. */
    /* 1.0 */
    int32_t (*register_kernel)(const char *name, int32_t input_count, int32_t output_count,
                               taeda_kernel kernel, void *user);

    /* A tensor on the memory of `base`: *out, owned by the caller; the memory lives as long as one
     * of them. Strides and offset count elements, offset from the first element of `base` (negative
     * ones too). What lies outside the memory is refused. */
    int32_t (*view)(const taeda_tensor *base, int32_t ndim, const int64_t *sizes,
                    const int64_t *strides, int64_t offset, taeda_tensor **out,
                    taeda_error *error); /* 1.1 */
    /* Facts of a dtype. `facts->size` must be set. */
    int32_t (*dtype_facts)(int32_t dtype, taeda_dtype_facts *facts, taeda_error *error); /* 1.1 */
    /* The dtype that values of both fit in. */
    int32_t (*promote_dtypes)(int32_t a, int32_t b, int32_t *out, taeda_error *error); /* 1.1 */
    /* taeda_dtype of floating-point tensors made without one. */
    int32_t (*default_dtype)(void); /* 1.1 */
    /* 1 if tensors can be made on that device now (1.3: a device number), else 0. */
    int32_t (*device_available)(int32_t device); /* 1.1 */
    /* How many threads parallel_for uses at most. */
    int32_t (*thread_count)(void); /* 1.1 */
    /* An operator by name: "add.Tensor", "sum", "mylib::scale": *out. */
    int32_t (*find_op)(const char *name, const taeda_op **out, taeda_error *error); /* 1.1 */
    /* Call an operator. Records no derivative. Since 1.4 inside a body of parallel_for, too. */
    int32_t (*call_op)(taeda_op_call *call); /* 1.1 */
    /* Only inside taeda_ext_init: a new operator, which Python finds as
     * taeda.ops.<namespace>.<name>. */
    int32_t (*define_op)(const taeda_op_def *def, taeda_error *error); /* 1.1 */
    /* Only inside taeda_ext_init: the derivative of an operator of this library. */
    int32_t (*define_derivative)(const taeda_derivative *derivative, taeda_error *error); /* 1.1 */

    /* A new tensor of unset elements with these strides (elements, none negative), on a device
     * (taeda_device; since 1.3 a device number): *out, owned by the caller. Its memory reaches to
     * the last element. */
    int32_t (*empty_strided)(int32_t dtype, int32_t device, int32_t ndim, const int64_t *sizes,
                             const int64_t *strides, taeda_tensor **out,
                             taeda_error *error); /* 1.2 */
    /* The same with the strides of a memory format: 0 contiguous, 2 channels_last (4 dimensions), 3
     * channels_last_3d (5). */
    int32_t (*empty_format)(int32_t dtype, int32_t device, int32_t ndim, const int64_t *sizes,
                            int32_t memory_format, taeda_tensor **out,
                            taeda_error *error); /* 1.2 */
    /* `bytes` unset bytes of the allocator, at a multiple of 64: *out, for scratch_free with the
     * same number. From any thread. */
    int32_t (*scratch)(int64_t bytes, void **out, taeda_error *error); /* 1.2 */
    /* Give them back. */
    void (*scratch_free)(void *block, int64_t bytes); /* 1.2 */
    /* Take `blocks` blocks of 128 random bits from a generator, which advances: a value of kind
     * GENERATOR, or of kind NONE for the default one. `out->size` must be set. Not inside a body of
     * parallel_for. */
    /* 1.2 */
    int32_t (*random_reserve)(const taeda_value *generator, int64_t blocks, taeda_random *out,
                              taeda_error *error);
    /* Blocks `first` to `first + count - 1` of what was reserved, four words each. They depend on
     * their numbers alone, not on the thread or the order. From any thread. */
    /* 1.2 */
    void (*random_bits)(const taeda_random *random, int64_t first, int64_t count, uint32_t *words);
    /* Give Python's lock up, in the thread and until the end of the kernel that the core called;
     * NULL if it is given up already. Other Python code runs meanwhile. */
    void *(*python_release)(void); /* 1.2 */
    /* Take it back, with what python_release gave. NULL does nothing. */
    void (*python_acquire)(void *token); /* 1.2 */
    /* The memory of a tensor with memory for others (DLPack 1.x): *out, whose deleter the receiver
     * calls. Without conjugate or negative bit. On a CUDA device the receiver works on
     * current_stream, or waits for it. */
    /* 1.2 */
    int32_t (*to_dlpack)(const taeda_tensor *tensor, struct DLManagedTensorVersioned **out,
                         taeda_error *error);
    /* A tensor on memory of others: *out, owned by the caller. Calls the deleter of `managed` once
     * nobody uses the memory; after a failure `managed` stays the caller's. Memory that may not be
     * written is refused. */
    /* 1.2 */
    int32_t (*from_dlpack)(struct DLManagedTensorVersioned *managed, taeda_tensor **out,
                           taeda_error *error);

    /* The stream (CUstream, cudaStream_t) on which this thread's work on a CUDA device is queued
     * now: *out, NULL for the default stream. The device's context becomes current on this thread.
     * RuntimeError where there is no such device. */
    int32_t (*current_stream)(int32_t device, void **out, taeda_error *error); /* 1.3 */
    /* Another stream of its device works on the memory of a CUDA tensor, too: once released, the
     * memory serves again when the work which that stream has by then is done. */
    /* 1.3 */
    int32_t (*record_stream)(const taeda_tensor *tensor, void *stream, taeda_error *error);

    /* Room for the `count` tensors of a Tensor[] result, each NULL: *out, which the kernel fills as
     * it fills `outputs`, and which is the core's. Once in a call, from the thread that called the
     * kernel. Returns 0, or a code with call->error filled. */
    int32_t (*list_outputs)(const taeda_call *call, int64_t count, taeda_tensor ***out); /* 1.5 */
} taeda_api;

#ifdef __cplusplus
}
#endif
#endif
