/* dlpack.h - the exchange structures of DLPack 1.x, field for field:
 * https://dmlc.github.io/dlpack/latest/c_api.html */
#ifndef TD_DLPACK_H
#define TD_DLPACK_H
#include <stddef.h>
#include <stdint.h>
#include "runtime/tensor.h"

#define DL_MAJOR 1
#define DL_MINOR 0
#define DL_NAME "dltensor" /* a capsule nobody has taken yet */
#define DL_USED_NAME "used_dltensor"
#define DL_VERSIONED_NAME "dltensor_versioned"
#define DL_USED_VERSIONED_NAME "used_dltensor_versioned"

enum { DL_CPU = 1, DL_CUDA = 2, DL_CUDA_HOST = 3 };
enum {
    DL_INT = 0,
    DL_UINT = 1,
    DL_FLOAT = 2,
    DL_BFLOAT = 4,
    DL_COMPLEX = 5,
    DL_BOOL = 6,
    DL_E4M3FN = 10,
    DL_E4M3FNUZ = 11,
    DL_E5M2 = 12,
    DL_E5M2FNUZ = 13,
    DL_E8M0FNU = 14
};
enum { DL_READ_ONLY = 1, DL_COPIED = 2 };

typedef struct dl_device {
    int32_t type, id;
} dl_device;
typedef struct dl_type {
    uint8_t code, bits;
    uint16_t lanes;
} dl_type;
typedef struct dl_tensor {
    void *data;
    dl_device device;
    int32_t ndim;
    dl_type type;
    int64_t *shape, *strides; /* elements; strides NULL: row-major */
    uint64_t byte_offset;
} dl_tensor;
typedef struct dl_managed { /* before 1.0 */
    dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self); /* NULL: nothing to do */
} dl_managed;
typedef struct dl_version {
    uint32_t major, minor;
} dl_version;
typedef struct dl_versioned {
    dl_version version; /* another major: nothing may be read but this and the deleter */
    void *context;
    void (*deleter)(struct dl_versioned *self);
    uint64_t flags;
    dl_tensor tensor;
} dl_versioned;
/* What a type keeps in `__dlpack_c_exchange_api__` (a capsule of this name) since 1.3, so that C
 * exchanges tensors without a Python call. Each returns 0, or -1 with an exception set. */
#define DL_TABLE_NAME "dlpack_exchange_api"
#define DL_TABLE_MINOR 3
typedef void (*dl_set_error)(void *error_context, const char *kind, const char *message);
typedef struct dl_table_header {
    dl_version version;
    struct dl_table_header *previous; /* the table of an older major version, or NULL */
} dl_table_header;
typedef struct dl_table {
    dl_table_header header;
    /* a new tensor like `prototype`; called with the interpreter lock or without, so it has
     * another way to report an error */
    int (*allocate)(dl_tensor *prototype, dl_versioned **out, void *error_context, dl_set_error);
    int (*from_object)(void *object, dl_versioned **out);
    int (*to_object)(dl_versioned *given, void **out); /* takes `given` if it returns 0 */
    int (*describe)(void *object, dl_tensor *out);     /* valid as long as the tensor is */
    int (*current_stream)(int32_t device_type, int32_t device_id, void **out);
} dl_table;
struct td_tensor;
/* Fills `out` with where and what the tensor is; 0 and a BufferError where that cannot be. */
int td_dlpack_describe(const struct td_tensor *t, dl_tensor *out);
/* Whether a dtype here has DLPack's type; then it is in `out`. */
int td_dtype_of_dlpack(dl_type type, int *out);
/* 1, or 0 with an exception: what is neither the cpu nor one of the CUDA devices */
int td_device_of_dlpack(dl_device place, td_device *out);
/* A struct on the memory of a tensor, for whoever calls its deleter; NULL and a BufferError where
 * that cannot be. */
dl_versioned *td_dlpack_of(const struct td_tensor *t);
/* A tensor on the memory of a struct, which is its from now on; NULL and an exception, and the
 * struct the caller's, if not. */
struct td_tensor *td_tensor_of_dlpack(dl_versioned *given);

_Static_assert(sizeof(dl_tensor) == 48 && offsetof(dl_managed, deleter) == 56,
               "as every producer lays them out");
_Static_assert(offsetof(dl_versioned, flags) == 24 && offsetof(dl_versioned, tensor) == 32,
               "as every producer lays them out");
_Static_assert(offsetof(dl_table, allocate) == 16 && sizeof(dl_table) == 56,
               "as every consumer reads it");

#endif
