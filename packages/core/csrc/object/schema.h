/* schema.h - the op table as C sees it. The rows are generated at build time (ops.gen.c); an op
 * that is defined at run time (dispatch/custom.c) has a td_schema of its own, with the id
 * td_schema_count.
 *
 *   td_functions[]  one per Python name ("add"): its overloads in the order they are tried
 *   td_schemas[]    one per overload ("add.Tensor"): parameters, results, where the implementation is
 */
#ifndef TD_SCHEMA_H
#define TD_SCHEMA_H
#include "runtime/op.h"

typedef enum td_type {
    TD_T_TENSOR,
    TD_T_SCALAR,
    TD_T_INT,
    TD_T_FLOAT,
    TD_T_BOOL,
    TD_T_STR,
    TD_T_DTYPE,
    TD_T_LAYOUT,
    TD_T_DEVICE,
    TD_T_MEMORY_FORMAT,
    TD_T_GENERATOR
} td_type;

enum {
    TD_P_LIST = 1,
    TD_P_OPTIONAL = 2,
    TD_P_ELEMENT_OPTIONAL = 4,
    TD_P_KEYWORD = 8,
    TD_P_NUMBER = 16,
    TD_P_MUTATED = 32,
    TD_P_DEFAULT = 64
};

typedef struct td_param {
    const char *name;
    uint8_t type, flags;
    int16_t length; /* int[2]: a bare int stands for two */
    td_arg value;   /* the default, when TD_P_DEFAULT */
} td_param;

typedef enum td_kind { TD_KIND_POINTWISE, TD_KIND_C, TD_KIND_PYTHON, TD_KIND_COMPOSITE } td_kind;

/* Python knows them by these names: core.row_flags */
#define TD_ROW_FLAGS(X)                                                                            \
    X(VIEW, 1)                                                                                     \
    X(FACTORY, 2)                                                                                  \
    X(RANDOM, 4)                                                                                   \
    X(MUTATES, 8)                                                                                  \
    X(OUT, 16)                                                                                     \
    X(INPLACE, 32)                                                                                 \
    X(KEEP_CONJ, 64) /* takes lazily conjugated inputs as they are */                              \
    X(READS_VALUE, 128)                                                                            \
    X(CASTS_OUT, 256)      /* out= of another dtype gets the result cast */                        \
    X(APART, 512)          /* out= may not be one of the arguments */                              \
    X(MIXES_DEVICES, 1024) /* its tensors may live on several devices */                           \
    X(TAKES_NUMBERS, 2048) /* a tensor of the cpu without dimensions may be any of its arguments,  \
                              the first one too */                                                 \
    X(ANY_DEVICE, 4096) /* the C function never touches elements but through the device's table */ \
    X(SLICES, 8192)     /* each of the views it gives may be written, which those of split and     \
                           unbind may not */                                                       \
    X(DETACHES, 16384)  /* its result counts writes with its argument, and is no view of it */     \
    X(ROUNDS_NUMBERS, 32768) /* of td_op */                                                        \
    X(HOST_INDICES, 65536)   /* tensors of its lists may lie on the cpu, wherever the first        \
                                argument is */
#define TD_ROW_FLAG(name, bit) TD_F_##name = bit,
enum { TD_ROW_FLAGS(TD_ROW_FLAG) };
#undef TD_ROW_FLAG

/* what autocast does with the arguments: core.casts */
#define TD_CASTS(X) X(AS_GIVEN, 0) X(LOWER, 1) X(FLOAT32, 2) X(PROMOTE, 3) X(OWN, 4)
#define TD_CAST(name, number) TD_CAST_##name = number,
enum { TD_CASTS(TD_CAST) };
#undef TD_CAST

/* what becomes of the names of dimensions (taeda/_names/rules.py): core.op_names */
#define TD_NAMING(X) \
    X(REFUSE)        \
    X(KEEP)          \
    X(MATCH)         \
    X(UNIFY)         \
    X(DROP)          \
    X(SQUEEZE)       \
    X(CONTRACT)      \
    X(PERMUTE)       \
    X(EXPAND)        \
    X(ADD)           \
    X(SELECT)        \
    X(NONE)          \
    X(MAKE)
#define TD_NAMING_WORD(name) TD_NAMES_##name,
enum { TD_NAMING(TD_NAMING_WORD) };
#undef TD_NAMING_WORD

typedef struct td_schema {
    td_op op;
    const td_param *params;
    const char *family, *target, *text; /* table file, implementation, the schema's text */
    const char *namespace_;             /* "", "nn", "linalg", ... */
    const char *return_names;           /* "values indices", or "" */
    int8_t return_alias[TD_MAX_OUTS];   /* index of the argument that result k is (a!) , or -1 */
    uint8_t nparams, npositional, nreturns, kind;
    uint8_t list_result;  /* Tensor[] */
    uint8_t other_result; /* the result is no tensor (bool, int, ...) */
    uint32_t flags;
    uint8_t autocast; /* TD_CAST_* on the cpu, and four bits above on CUDA devices */
    uint8_t names;    /* TD_NAMES_* */
    /* found or registered later; zero in the generated rows */
    struct Rule *rule;           /* the derivative (backward/rules.c) */
    struct _object *callable;    /* the function of a composite or Python row */
    struct _typeobject *results; /* the named tuple of its results */
    struct td_custom *custom;    /* kernels given at run time (dispatch/custom.h), or NULL */
    /* its derivative is Python's that makes its own graph: the recorder leaves it alone */
    uint8_t records_itself;
    /* [TD_DEVICE_TYPES]: functions of other devices, or NULL if there are none */
    td_impl *on_device;
} td_schema;

typedef struct td_function {
    const char *name, *namespace_, *doc;
    td_schema *const *overloads;
    int count;
    /* is_inplace: this is `name_`, whose result goes into self */
    uint8_t is_function, is_method, is_inplace;
    /* what __torch_function__ is told was called; NULL for generated entries */
    struct _object *object;
} td_function;

extern td_schema td_schemas[];
extern const int td_schema_count;
extern const td_function td_functions[];
extern const int td_function_count;

#endif
