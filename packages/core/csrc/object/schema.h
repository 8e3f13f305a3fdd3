/* schema.h - the op table as C sees it. The rows are generated at build time (ops.gen.c); an op that is defined at run time
 * (dispatch/custom.c) has a td_schema of its own, with the id td_schema_count.
 *
 *   td_functions[]  one per Python name ("add"): its overloads in the order they are tried
 *   td_schemas[]    one per overload ("add.Tensor"): parameters, results, where the implementation is
 */
#ifndef TD_SCHEMA_H
#define TD_SCHEMA_H
#include "runtime/op.h"

typedef enum td_type {
    TD_T_TENSOR, TD_T_SCALAR, TD_T_INT, TD_T_FLOAT, TD_T_BOOL, TD_T_STR, TD_T_DTYPE, TD_T_LAYOUT, TD_T_DEVICE,
    TD_T_MEMORY_FORMAT, TD_T_GENERATOR
} td_type;

enum { TD_P_LIST = 1, TD_P_OPTIONAL = 2, TD_P_ELEMENT_OPTIONAL = 4, TD_P_KEYWORD = 8, TD_P_NUMBER = 16, TD_P_MUTATED = 32,
       TD_P_DEFAULT = 64 };

typedef struct td_param {
    const char *name;
    uint8_t type, flags;
    int16_t length;   /* int[2]: a bare int stands for two */
    td_arg value;     /* the default, when TD_P_DEFAULT */
} td_param;

typedef enum td_kind { TD_KIND_POINTWISE, TD_KIND_C, TD_KIND_PYTHON, TD_KIND_COMPOSITE } td_kind;

enum { TD_F_VIEW = 1, TD_F_FACTORY = 2, TD_F_RANDOM = 4, TD_F_MUTATES = 8, TD_F_OUT = 16, TD_F_INPLACE = 32,
       TD_F_KEEP_CONJ = 64 /* takes lazily conjugated inputs as they are */, TD_F_READS_VALUE = 128,
       TD_F_CASTS_OUT = 256 /* out= of another dtype gets the result cast */,
       TD_F_APART = 512 /* out= may not be one of the arguments */,
       TD_F_MIXES_DEVICES = 1024 /* its tensors may live on several devices */,
       TD_F_TAKES_NUMBERS = 2048 /* a tensor of the cpu without dimensions may be any of its arguments, the first one too */,
       TD_F_ANY_DEVICE = 4096 /* the C function never touches elements but through the device's table */ };

typedef struct td_schema {
    td_op op;
    const td_param *params;
    const char *family, *target, *text; /* table file, implementation, the schema's text */
    const char *namespace_;             /* "", "nn", "linalg", ... */
    const char *return_names;           /* "values indices", or "" */
    int8_t return_alias[TD_MAX_OUTS];   /* index of the argument that result k is (a!) , or -1 */
    uint8_t nparams, npositional, nreturns, kind;
    uint8_t list_result;                /* Tensor[] */
    uint8_t other_result;               /* the result is no tensor (bool, int, ...) */
    uint16_t flags;
    uint8_t autocast;                   /* how autocast treats it on the cpu, as _table/_autocast.py numbers it; 0: not */
    /* found or registered later; zero in the generated rows */
    struct Rule *rule;           /* the derivative (backward/rules.c) */
    struct _object *callable;    /* the function of a composite or Python row */
    struct _typeobject *results; /* the named tuple of its results */
    struct td_custom *custom;    /* kernels given at run time (dispatch/custom.h), or NULL */
    uint8_t records_itself;      /* its derivative is Python's that makes its own graph: the recorder leaves it alone */
    td_impl *on_device;          /* [TD_DEVICE_TYPES]: functions of other devices, or NULL if there are none */
} td_schema;

typedef struct td_function {
    const char *name, *namespace_, *doc;
    td_schema *const *overloads;
    int count;
    uint8_t is_function, is_method, is_inplace; /* is_inplace: this is `name_`, whose result goes into self */
    struct _object *object;    /* what __torch_function__ is told was called; NULL for generated entries */
} td_function;

extern td_schema td_schemas[];
extern const int td_schema_count;
extern const td_function td_functions[];
extern const int td_function_count;

#endif
