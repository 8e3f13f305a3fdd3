/* cublaslt.h - cuBLASLt, opened when the first product of a device is computed. Its numbers are
 * those of the library's ABI, 12 and 13 alike. TAEDA_LIBCUBLASLT names another library. */
#ifndef TD_CUDA_CUBLASLT_H
#define TD_CUDA_CUBLASLT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "runtime/error.h"

typedef struct td_lt_algo {
    uint64_t data[8];
} td_lt_algo;
/* what the heuristic answers with */
typedef struct td_lt_choice {
    td_lt_algo algo;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
} td_lt_choice;

/* X(name in libcublasLt, type of the arguments) */
#define TD_LT_ENTRIES(X)                                                                         \
    X(cublasLtCreate, (void **handle))                                                           \
    X(cublasLtMatmulDescCreate, (void **made, int compute, int scale))                           \
    X(cublasLtMatmulDescSetAttribute, (void *desc, int what, const void *value, size_t bytes))   \
    X(cublasLtMatmulDescDestroy, (void *desc))                                                   \
    X(cublasLtMatrixLayoutCreate,                                                                \
      (void **made, int type, uint64_t rows, uint64_t columns, int64_t leading))                 \
    X(cublasLtMatrixLayoutSetAttribute, (void *layout, int what, const void *value, size_t n))   \
    X(cublasLtMatrixLayoutDestroy, (void *layout))                                               \
    X(cublasLtMatmulPreferenceCreate, (void **made))                                             \
    X(cublasLtMatmulPreferenceSetAttribute, (void *wish, int what, const void *value, size_t n)) \
    X(cublasLtMatmulPreferenceDestroy, (void *wish))                                             \
    X(cublasLtMatmulAlgoGetHeuristic,                                                            \
      (void *handle, void *desc, void *a, void *b, void *c, void *d, void *wish, int wanted,     \
       td_lt_choice *choices, int *found))                                                       \
    X(cublasLtMatmul,                                                                            \
      (void *handle, void *desc, const void *alpha, const void *a, void *la, const void *b,      \
       void *lb, const void *beta, const void *c, void *lc, void *d, void *ld,                   \
       const td_lt_algo *algo, void *workspace, size_t bytes, void *stream))

typedef struct td_lt_library {
#define SLOT(name, arguments) int(*name) arguments;
    TD_LT_ENTRIES(SLOT)
#undef SLOT
    size_t (*cublasLtGetVersion)(void);
    const char *(*cublasLtGetStatusName)(int status);
} td_lt_library;
extern td_lt_library td_lt; /* filled by td_lt_handle */

/* ---- numbers ---- */
enum { TD_LT_NO_MEMORY = 3, TD_LT_INVALID = 7, TD_LT_ARCHITECTURE = 8, TD_LT_UNSUPPORTED = 15 };
/* Is this what the library says of work that it does not do? */
static inline bool td_lt_declines(int status)
{
    return status == TD_LT_INVALID || status == TD_LT_ARCHITECTURE || status == TD_LT_UNSUPPORTED;
}
enum { TD_LT_R32 = 0, TD_LT_R64 = 1, TD_LT_R16 = 2, TD_LT_C32 = 4, TD_LT_C64 = 5, TD_LT_BF16 = 14 };
enum { TD_LT_COMPUTE_32 = 68, TD_LT_COMPUTE_64 = 70, TD_LT_COMPUTE_TF32 = 77 };
enum { TD_LT_TURN_A = 3, TD_LT_TURN_B = 4, TD_LT_EPILOGUE = 7, TD_LT_BIAS_POINTER = 8 };
enum { TD_LT_EPILOGUE_NONE = 1, TD_LT_EPILOGUE_BIAS = 4 };
enum { TD_LT_BATCH_COUNT = 5, TD_LT_BATCH_STRIDE = 6 };
enum { TD_LT_WISH_WORKSPACE = 1, TD_LT_WISH_REDUCTIONS = 3, TD_LT_WISH_ALIGNMENT = 5 };
/* how parts of a sum may be joined: in the result's place and type, in the sums' type, in the
 * result's type */
enum { TD_LT_JOIN_IN_PLACE = 1, TD_LT_JOIN_WIDE = 2, TD_LT_JOIN_SHORT = 4 };

/* ---- the library ---- */
/* Give what dlopen answered, or NULL: filled by the binding, which asks Python. `major`: of the
 * CUDA that the driver serves. */
extern td_status (*td_lt_open)(int major, void **library);

/* The handle of a device whose context is current; NULL where products are for our own kernels.
 * Why that is so is told once. Fails only where the telling is refused. */
td_status td_lt_handle(int ordinal, void **handle);

/* "CUBLAS_STATUS_..." */
const char *td_lt_word(int status);
/* Does TAEDA_CUDA_LOG ask for what happens to products? */
bool td_lt_logs(void);

/* What the program allows (backends.cuda.matmul), a bit each. */
enum { TD_ALLOW_TF32 = 1, TD_REFUSE_SHORT_F16 = 2, TD_REFUSE_SHORT_BF16 = 4 };
extern int td_lt_allowed;

#endif
