/* abi.c - the table of taeda/abi.h: tensors, dtypes, errors, loops. */
#include <stdarg.h>
#include "abi/abi.h"
#include "runtime/loops.h"

#define SLOT(name, number)                                                      \
    _Static_assert(offsetof(taeda_api, name) == 16 + (number) * sizeof(void *), \
                   "released slots do not move")
/* 1.0 */
SLOT(facts, 0);
SLOT(empty, 1);
SLOT(contiguous, 2);
SLOT(release, 3);
SLOT(fail, 4);
SLOT(parallel_for, 5);
SLOT(register_kernel, 6);
SLOT(view, 7);
SLOT(dtype_facts, 8);
SLOT(promote_dtypes, 9);
SLOT(default_dtype, 10);
SLOT(device_available, 11);
/* 1.1 */
SLOT(thread_count, 12);
SLOT(find_op, 13);
SLOT(call_op, 14);
SLOT(define_op, 15);
SLOT(define_derivative, 16);
SLOT(empty_strided, 17);
SLOT(empty_format, 18);
SLOT(scratch, 19);
SLOT(scratch_free, 20);
SLOT(random_reserve, 21);
/* 1.2 */
SLOT(random_bits, 22);
SLOT(python_release, 23);
SLOT(python_acquire, 24);
SLOT(to_dlpack, 25);
SLOT(from_dlpack, 26);
/* 1.3 */
SLOT(current_stream, 27);
SLOT(record_stream, 28);
/* 1.5 */
SLOT(list_outputs, 29);
_Static_assert(sizeof(taeda_value) == 32 && sizeof(taeda_error) == 256,
               "arrays of these are passed: they never change");
_Static_assert(offsetof(taeda_facts, device) == 48 && offsetof(taeda_call, arg_count) == 48 &&
                   offsetof(taeda_call, core) == 64,
               "released fields do not move");
_Static_assert((int)TAEDA_BOOL == (int)TD_BOOL && (int)TAEDA_INT64 == (int)TD_I64 &&
                   (int)TAEDA_FLOAT32 == (int)TD_F32 && (int)TAEDA_COMPLEX128 == (int)TD_C128,
               "dtype numbers are part of the ABI");
_Static_assert((int)TAEDA_MEMORY_ERROR == (int)TD_MEMORY_ERROR, "error codes are part of the ABI");
_Static_assert((int)TAEDA_CPU == (int)TD_CPU && (int)TAEDA_META == (int)TD_META &&
                   (int)TAEDA_CUDA == (int)TD_CUDA,
               "device numbers are part of the ABI");
_Static_assert((int)TAEDA_CATEGORY_QUANTIZED == (int)TD_CAT_QUANTIZED,
               "categories are part of the ABI");

/* ---- errors ---- */
int32_t td_abi_fail(taeda_error *error, int32_t code, const char *message)
{
    error->code = code;
    snprintf(error->message, sizeof error->message, "%s", message);
    return code;
}

int32_t td_abi_error(taeda_error *error, int32_t code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    error->code = code;
    vsnprintf(error->message, sizeof error->message, format, args);
    va_end(args);
    return code;
}

int32_t td_abi_status(td_status status, taeda_error *error)
{
    if (!status) return 0;
    return td_abi_fail(error, status <= TD_MEMORY_ERROR ? (int32_t)status : TAEDA_RUNTIME_ERROR,
                       td_error_message());
}

td_status td_abi_code(int32_t code, const char *name, taeda_error *error)
{
    error->message[sizeof error->message - 1] = 0;
    if (!error->message[0])
        td_abi_error(error, code, "the kernel failed with code %d and said nothing", code);
    return td_fail(code > 0 && code <= TAEDA_MEMORY_ERROR ? (td_status)code : TD_RUNTIME_ERROR,
                   "%s: %s", name, error->message);
}

int32_t td_abi_exception(taeda_error *error)
{
    static PyObject **const types[] = {&PyExc_NotImplementedError, &PyExc_TypeError,
                                       &PyExc_ValueError, &PyExc_IndexError, &PyExc_MemoryError};
    static const int32_t codes[] = {TAEDA_NOT_IMPLEMENTED, TAEDA_TYPE_ERROR, TAEDA_VALUE_ERROR,
                                    TAEDA_INDEX_ERROR, TAEDA_MEMORY_ERROR};
    int32_t code = TAEDA_RUNTIME_ERROR;
    for (int i = 4; i >= 0; i--)
        if (PyErr_ExceptionMatches(*types[i])) code = codes[i];
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *text = value ? PyObject_Str(value) : NULL;
    const char *utf8 = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    td_abi_fail(error, code, utf8 ? utf8 : "an exception without a message");
    PyErr_Clear(); /* of an exception that cannot be printed: its code is told */
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return code;
}

int32_t td_abi_size(const char *what, const void *record, uint32_t least, uint32_t most,
                    taeda_error *error)
{
    uint32_t size = *(const uint32_t *)record;
    if (size < least)
        return td_abi_error(
            error, TAEDA_VALUE_ERROR,
            "%s says that it has %u bytes, at least %u are wanted: set its size to sizeof(%s)",
            what, size, least, what);
    for (uint32_t i = most; i < size; i++)
        if (((const char *)record)[i])
            return td_abi_error(error, TAEDA_VALUE_ERROR,
                                "%s has %u bytes and sets a field that this core, which knows %u "
                                "bytes, does not have",
                                what, size, most);
    return 0;
}

/* ---- tensors ---- */
static int32_t abi_facts(const taeda_tensor *tensor, taeda_facts *facts)
{
    const td_tensor *t = td_inner(tensor);
    if (facts->size < offsetof(taeda_facts, device)) return TAEDA_VALUE_ERROR;
    facts->dtype = t->dtype;
    facts->ndim = t->ndim;
    facts->on_cpu = t->device == TD_CPU;
    facts->numel = t->numel;
    facts->sizes = t->sizes;
    facts->strides = t->strides;
    facts->data = td_data(t);
    if (facts->size < offsetof(taeda_facts, version)) return 0; /* of 1.0 */
    facts->device = td_abi_device((td_device)t->device);
    facts->is_contiguous = td_is_contiguous(t);
    facts->itemsize = td_itemsize((td_dtype)t->dtype);
    facts->offset = t->offset;
    if (facts->size < sizeof *facts) return 0; /* of 1.1 to 1.4 */
    facts->version = td_version_of(t);
    return 0;
}

static int32_t abi_empty(int32_t dtype, int32_t ndim, const int64_t *sizes, int32_t on_cpu,
                         taeda_tensor **out, taeda_error *error)
{
    td_tensor *t;
    if (dtype < 0 || dtype >= TD_NDTYPES)
        return td_abi_error(error, TAEDA_VALUE_ERROR, "empty: there is no dtype %d", dtype);
    if (ndim < 0 || ndim > TD_MAX_DIMS)
        return td_abi_error(error, TAEDA_VALUE_ERROR,
                            "empty: a tensor has 0 to %d dimensions, not %d", TD_MAX_DIMS, ndim);
    td_status status = td_tensor_empty(&t, (td_dtype)dtype, on_cpu ? TD_CPU : TD_META, ndim, sizes);
    if (!status) *out = td_outer(t);
    return td_abi_status(status, error);
}

static int32_t abi_contiguous(const taeda_tensor *tensor, taeda_tensor **out, taeda_error *error)
{
    td_tensor *t;
    td_status status = td_contiguous(&t, td_inner(tensor));
    if (!status) *out = td_outer(t);
    return td_abi_status(status, error);
}

static void abi_release(taeda_tensor *tensor) { td_tensor_free(td_inner(tensor)); }

/* the first and last element that a view reaches, counted from the start of the memory */
static bool reach(int32_t ndim, const int64_t *sizes, const int64_t *strides, int64_t offset,
                  int64_t *low, int64_t *high)
{
    *low = *high = offset;
    for (int32_t i = 0; i < ndim; i++) {
        int64_t step;
        if (td_mul_overflows(sizes[i] - 1, strides[i], &step)) return false;
        if (step < 0 ? td_add_overflows(*low, step, low) : td_add_overflows(*high, step, high))
            return false;
    }
    return true;
}

static int32_t abi_view(const taeda_tensor *base, int32_t ndim, const int64_t *sizes,
                        const int64_t *strides, int64_t offset, taeda_tensor **out,
                        taeda_error *error)
{
    td_tensor *t, *b = td_inner(base);
    int64_t numel, low, high, start, have = b->storage->nbytes / td_itemsize((td_dtype)b->dtype);
    if (ndim < 0 || ndim > TD_MAX_DIMS)
        return td_abi_error(error, TAEDA_VALUE_ERROR,
                            "view: a tensor has 0 to %d dimensions, not %d", TD_MAX_DIMS, ndim);
    td_status status = td_numel(ndim, sizes, &numel);
    if (status) return td_abi_status(status, error);
    if (td_add_overflows(b->offset, offset, &start) || start < 0 ||
        (numel && !reach(ndim, sizes, strides, start, &low, &high)))
        return td_abi_error(error, TAEDA_VALUE_ERROR,
                            "view: sizes, strides and offset lie outside any memory");
    if (numel ? low < 0 || high >= have : start > have)
        return td_abi_error(
            error, TAEDA_VALUE_ERROR, "view: elements %lld to %lld are wanted of a memory of %lld",
            (long long)(numel ? low : start), (long long)(numel ? high : start), (long long)have);
    if (!(status = td_tensor_view(&t, b, ndim, sizes, strides, start))) *out = td_outer(t);
    return td_abi_status(status, error);
}

/* ---- dtypes and devices ---- */
static int32_t abi_dtype_facts(int32_t dtype, taeda_dtype_facts *facts, taeda_error *error)
{
    int32_t code = td_abi_size("taeda_dtype_facts", facts, sizeof *facts, facts->size, error);
    if (code) return code;
    if (dtype < 0 || dtype >= TD_NDTYPES)
        return td_abi_error(error, TAEDA_VALUE_ERROR, "dtype_facts: there is no dtype %d", dtype);
    const td_dtype_info *d = &td_dtypes[dtype];
    facts->category = d->category;
    facts->itemsize = d->itemsize;
    facts->is_signed = d->is_signed;
    facts->name = d->name;
    return 0;
}

static int32_t abi_promote(int32_t a, int32_t b, int32_t *out, taeda_error *error)
{
    if (a < 0 || a >= TD_NDTYPES || b < 0 || b >= TD_NDTYPES)
        return td_abi_error(error, TAEDA_VALUE_ERROR, "promote_dtypes: there is no dtype %d or %d",
                            a, b);
    int common = td_promote((td_dtype)a, (td_dtype)b);
    if (common < 0)
        return td_abi_error(error, TAEDA_TYPE_ERROR,
                            "promote_dtypes: %s and %s have no common dtype", td_dtypes[a].name,
                            td_dtypes[b].name);
    *out = common;
    return 0;
}

static int32_t abi_default_dtype(void) { return td_default_dtype; }
static int32_t abi_thread_count(void) { return td_num_threads(); }

/* ---- loops ---- */
typedef struct Loop {
    taeda_range body;
    void *context;
    uint32_t excluded; /* of the caller */
    uint8_t inference_mode;
} Loop;

/* A body meets the same state of the thread in each thread, the caller's too: what an operator in
 * it computes does not depend on who runs it. */
static void run_body(void *given, int64_t begin, int64_t end)
{
    const Loop *loop = given;
    td_state was = td_here;
    td_here.layers = 0;
    td_here.excluded = loop->excluded;
    td_here.inference_mode = loop->inference_mode;
    td_abi_loops++;
    loop->body(loop->context, begin, end);
    td_abi_loops--;
    td_here.layers = was.layers;
    td_here.excluded = was.excluded;
    td_here.inference_mode = was.inference_mode;
}

/* Python's lock is given up whenever there are other threads to wait for: they may ask for it. */
static void abi_parallel(int64_t n, int64_t grain, taeda_range body, void *context)
{
    Loop loop = {body, context, td_here.excluded, td_here.inference_mode};
    TD_NO_UNWIND_BEGIN
    void *token =
        n > (grain < 1 ? 1 : grain) && !td_in_parallel() ? td_heavy_begin(2 * TD_HEAVY_NS) : NULL;
    td_parallel(n, grain, run_body, &loop);
    td_heavy_end(token);
    TD_NO_UNWIND_END
}

const taeda_api td_api = {.size = sizeof(taeda_api),
                          .major = TAEDA_ABI_MAJOR,
                          .minor = TAEDA_ABI_MINOR,
                          .facts = abi_facts,
                          .empty = abi_empty,
                          .contiguous = abi_contiguous,
                          .release = abi_release,
                          .fail = td_abi_fail,
                          .parallel_for = abi_parallel,
                          .register_kernel = td_abi_register,
                          .view = abi_view,
                          .dtype_facts = abi_dtype_facts,
                          .promote_dtypes = abi_promote,
                          .default_dtype = abi_default_dtype,
                          .device_available = td_abi_device_available,
                          .thread_count = abi_thread_count,
                          .find_op = td_abi_find_op,
                          .call_op = td_abi_call_op,
                          .define_op = td_abi_define,
                          .define_derivative = td_abi_derive,
                          .empty_strided = td_abi_empty_strided,
                          .empty_format = td_abi_empty_format,
                          .scratch = td_abi_scratch,
                          .scratch_free = td_abi_scratch_free,
                          .random_reserve = td_abi_random_reserve,
                          .random_bits = td_abi_random_bits,
                          .python_release = td_abi_python_release,
                          .python_acquire = td_abi_python_acquire,
                          .to_dlpack = td_abi_to_dlpack,
                          .from_dlpack = td_abi_from_dlpack,
                          .current_stream = td_abi_current_stream,
                          .record_stream = td_abi_record_stream,
                          .list_outputs = td_abi_list_outputs};
