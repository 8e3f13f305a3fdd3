/* tensor.h - storages and tensors, without Python.
 *
 *   td_tensor ──storage──▶ td_storage ──data──▶ bytes
 *      │ offset, sizes, strides (elements), dtype, device, flags
 *
 * A storage is reference counted and shared by the tensors that view it. A td_tensor has one owner:
 * whoever made it frees it, or hands it over. The version counter lives in the storage, so every
 * view and detach() shares it; a tensor made by `.data` carries a counter of its own.
 *
 * A handle does not change once it is in use: what gives a tensor object other sizes or memory
 * (`.data =`, set_, resize_, t_) makes another handle and retires the old one. Bytes do not move
 * under a reader either: a storage that grows or becomes shared takes new memory and leaves the
 * old. Whoever uses a handle while Python may run, in this thread or in another, pins its storage;
 * what a pinned storage loses waits in `left` for the last pin. Pins are counted under the
 * interpreter lock. */
#ifndef TD_TENSOR_H
#define TD_TENSOR_H
#include <stddef.h>
#include "runtime/dtype.h"
#include "runtime/error.h"
#include "runtime/scalar.h"

#define TD_MAX_DIMS 64
#define TD_INLINE_DIMS 6

/* Where bytes are: the type in the low three bits, the ordinal in the upper five. cpu and meta have
 * the ordinal 0 only. */
typedef uint8_t td_device;
enum { TD_CPU, TD_META, TD_CUDA, TD_PRIVATEUSE1, TD_DEVICE_TYPES = 8, TD_DEVICE_ORDINALS = 32 };
static inline int td_device_type(td_device device) { return device & 7; }
static inline int td_device_index(td_device device) { return device >> 3; }
static inline td_device td_device_of(int type, int index) { return (td_device)(type | index << 3); }

typedef struct td_version {
    int64_t refs;
    uint32_t value;
} td_version;

typedef struct td_storage {
    char *data; /* NULL for meta storages and for empty ones */
    int64_t nbytes;
    int64_t refs;
    uint32_t version;
    uint8_t device; /* td_device */
    uint8_t fixed;  /* 1: memory belongs to somebody else (numpy, a file) and cannot be resized */
    /* 1: found by the file it lies on (runtime/shared.c), so its last owner leaves under that lock
     */
    uint8_t listed;
    /* 1: somebody outside may hold its address (a buffer) as long as the storage lives */
    uint8_t exported;
    void (*release)(void *context, char *data, int64_t nbytes);
    void *context;
    /* owned: retired handles, and handles on memory it lay on, until the last pin */
    struct td_tensor *left;
    int32_t pins;  /* users who are in the middle of something */
    uint32_t born; /* td_storage_age when it was made */
} td_storage;

/* A recorder counts it up when it begins, so it knows memory of before from memory of its time. */
extern uint32_t td_storage_age;

enum {
    TD_FLAG_CONJ = 1,
    TD_FLAG_NEG = 2,
    TD_FLAG_WRAPPED = 4 /* a Python number */,
    TD_FLAG_INFERENCE = 8
};

/* The abi session compiles the core with every field elsewhere, to show that no extension depends
 * on where they lie. */
#ifdef TD_TENSOR_PADDING
#define TD_PADDING(place) char place[TD_TENSOR_PADDING];
#else
#define TD_PADDING(place)
#endif

typedef struct td_tensor {
    TD_PADDING(before)
    td_storage *storage;
    td_version *own_version; /* NULL: the storage's counter */
    int64_t offset;          /* elements from the start of the storage */
    int64_t numel;
    TD_PADDING(between)
    int64_t *sizes, *strides; /* ndim entries each; strides in elements */
    int32_t ndim;
    uint8_t dtype, device, flags, unused;
    struct td_tensor *next; /* in the list `left` of its storage; not set before */
    int64_t inline_dims[2 * TD_INLINE_DIMS];
} td_tensor;

/* ---- storage (runtime/storage.c) ---- */
td_status td_storage_new(td_storage **out, int64_t nbytes, td_device device);
td_storage *td_storage_keep(td_storage *s);
void td_storage_drop(td_storage *s);
/* with the interpreter lock held, these four and td_tensor_retire */
td_status td_storage_resize(td_storage *s, int64_t nbytes); /* the old bytes, at another place */
void td_storage_swap(td_storage *a, td_storage *b);         /* exchange memory */
void td_storage_settle(td_storage *s);                      /* the last pin is gone */
static inline td_storage *td_pin(const td_storage *s)
{
    ((td_storage *)s)->pins++;
    return (td_storage *)s;
}
static inline void td_unpin(td_storage *s)
{
    if (--s->pins == 0 && s->left) td_storage_settle(s);
}

/* ---- making tensors (runtime/tensor.c); every out pointer is set only on success ---- */
/* Plain memory has no scale: a tensor of a quantized dtype is made of parts, and kernels have no
 * row for one. */
td_status td_refuse_quantized(td_dtype dtype);
td_status td_tensor_empty(td_tensor **out, td_dtype dtype, td_device device, int ndim,
                          const int64_t *sizes);
/* of any dtype: what stands for a tensor that is made of parts */
td_status td_tensor_handle(td_tensor **out, td_dtype dtype, td_device device, int ndim,
                           const int64_t *sizes);
td_status td_tensor_empty_strided(td_tensor **out, td_dtype dtype, td_device device, int ndim,
                                  const int64_t *sizes, const int64_t *strides);
/* Same dtype, device and shape as `like`; its strides too if it is dense without overlap, else
 * row-major. */
td_status td_tensor_empty_like(td_tensor **out, const td_tensor *like, td_dtype dtype);
/* A view of `base`'s storage: no check but arithmetic; use the functions of ops/view/view.c for
 * checked views. */
td_status td_tensor_view(td_tensor **out, const td_tensor *base, int ndim, const int64_t *sizes,
                         const int64_t *strides, int64_t offset);
td_status td_tensor_alias(td_tensor **out, const td_tensor *base);
td_status td_tensor_on_storage(td_tensor **out, td_storage *s, td_dtype dtype, int ndim,
                               const int64_t *sizes, const int64_t *strides, int64_t offset);
/* 0-dim tensor holding one number, marked as a Python number */
td_status td_tensor_from_scalar(td_tensor **out, const td_scalar *value, td_dtype dtype);
/* a version counter of its own, from 0: what `.data` needs */
td_status td_tensor_detach_version(td_tensor *t);
void td_tensor_free(td_tensor *t);                  /* NULL is fine */
void td_tensor_retire(td_tensor *t, td_storage *s); /* free it now, or with the last pin of `s` */

/* ---- asking ---- */
static inline void *td_data(const td_tensor *t)
{
    /* another thread may let the storage grow */
    char *data = __atomic_load_n(&t->storage->data, __ATOMIC_RELAXED);
    return data ? data + t->offset * td_itemsize((td_dtype)t->dtype) : NULL;
}
static inline bool td_is_meta(const td_tensor *t) { return t->device == TD_META; }
/* row-major; size-1 dims and empty tensors do not matter */
bool td_is_contiguous(const td_tensor *t);
/* 4-D (or 5-D) with channels innermost */
bool td_is_channels_last(const td_tensor *t);
/* non-overlapping and dense in some order */
bool td_is_dense(const td_tensor *t);
/* one memory place stands for several elements */
bool td_has_zero_stride(const td_tensor *t);
/* No byte belongs to both. */
static inline bool td_storages_apart(const td_storage *a, const td_storage *b)
{
    uintptr_t at = (uintptr_t)a->data, other = (uintptr_t)b->data;
    return a != b && (at + (uintptr_t)a->nbytes <= other || other + (uintptr_t)b->nbytes <= at);
}
bool td_ranges_meet(const td_tensor *a, const td_tensor *b);
/* byte ranges of the two intersect */
static inline bool td_may_overlap(const td_tensor *a, const td_tensor *b)
{
    return !td_storages_apart(a->storage, b->storage) && td_ranges_meet(a, b);
}
/* How the memory of a written tensor meets that of another. UNCLEAR: the byte ranges meet, the
 * elements perhaps not. */
typedef enum td_overlap { TD_APART, TD_IDENTICAL, TD_TANGLED, TD_UNCLEAR } td_overlap;
td_overlap td_overlap_of(const td_tensor *out, const td_tensor *t);
td_status td_fail_overlap(void); /* out and an input share elements */
/* several elements of out are one place */
td_status td_fail_overlap_within(void);
/* same storage, offset, sizes, strides */
bool td_same_layout(const td_tensor *a, const td_tensor *b);
bool td_same_shape(const td_tensor *a, const td_tensor *b);
/* an element of t as the conj and neg bits read it */
td_scalar td_meant_number(const td_tensor *t, td_scalar stored);
static inline uint32_t td_version_of(const td_tensor *t)
{
    return t->own_version ? t->own_version->value : t->storage->version;
}
static inline void td_version_bump(td_tensor *t)
{
    if (t->own_version) t->own_version->value++;
    else t->storage->version++;
}

/* ---- shapes (runtime/shape.c): checked arithmetic and the field's rules ---- */
/* refuses negative sizes and overflow */
td_status td_numel(int ndim, const int64_t *sizes, int64_t *out);
void td_row_major(int ndim, const int64_t *sizes, int64_t *strides);
/* IndexError with the legal range; ndim 0 counts as 1 */
td_status td_wrap_dim(int64_t dim, int64_t ndim, int64_t *out);
td_status td_broadcast(int na, const int64_t *a, int nb, const int64_t *b, int *nout, int64_t *out);
static inline bool td_add_overflows(int64_t a, int64_t b, int64_t *r)
{
    return __builtin_add_overflow(a, b, r);
}
static inline bool td_mul_overflows(int64_t a, int64_t b, int64_t *r)
{
    return __builtin_mul_overflow(a, b, r);
}
/* "[2, 3]" into a caller's buffer, for messages */
#define TD_SHAPE_TEXT 256
const char *td_shape_text(int ndim, const int64_t *sizes, char buffer[TD_SHAPE_TEXT]);

#endif
