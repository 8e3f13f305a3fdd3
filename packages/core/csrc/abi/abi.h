/* abi.h - how the files that serve taeda/abi.h share their work.
 *
 *   extension.c  loads a library, takes what it registers      abi.c       the table: tensors, dtypes, errors, loops
 *   abi_ops.c    find_op, call_op, and an extension's kernel as the implementation of a row
 *   memory.c     tensors of any strides, work space, DLPack   random.c    random bits
 *   devices.c    device numbers, streams               lock.c     Python's lock, and the end of the interpreter
 *   list.c       results that are a list of tensors */
#ifndef TD_ABI_H
#define TD_ABI_H
#include "runtime/thread_local.h"
#include <pthread.h>
#include "dispatch/custom.h"

/* Around what may ask Python for its lock while an extension's frames are on the stack: nothing
 * unwinds through those. The block is left at its end only. */
void td_abi_stay(void *unused);
#define TD_NO_UNWIND_BEGIN pthread_cleanup_push(td_abi_stay, NULL);
#define TD_NO_UNWIND_END pthread_cleanup_pop(0);

static inline td_tensor *td_inner(const taeda_tensor *t) { return (td_tensor *)t; }
static inline taeda_tensor *td_outer(td_tensor *t) { return (taeda_tensor *)t; }

/* ---- devices.c: td_device is the core's own, a device number is the interface's ---- */
static inline int32_t td_abi_device(td_device device)
{
    return TAEDA_DEVICE(td_device_type(device), td_device_index(device));
}
/* 0 and *out, or an error that begins with the slot's name: no such device, or none here */
int32_t td_abi_device_from(const char *slot, int32_t number, td_device *out, taeda_error *error);
int32_t td_abi_device_available(int32_t number);
int32_t td_abi_current_stream(int32_t number, void **out, taeda_error *error);
int32_t td_abi_record_stream(const taeda_tensor *tensor, void *stream, taeda_error *error);

extern const taeda_api td_api;
int32_t td_abi_fail(taeda_error *error, int32_t code, const char *message);
int32_t td_abi_error(taeda_error *error, int32_t code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
int32_t td_abi_status(td_status status, taeda_error *error);
int32_t td_abi_exception(taeda_error *error); /* takes the pending Python exception */
/* 0 if a struct of `size` bytes may be read: at least `least`, and nothing set beyond the `most`
 * that this core knows */
int32_t td_abi_size(const char *what, const void *record, uint32_t least, uint32_t most,
                    taeda_error *error);
/* a kernel's code as a status with its message */
td_status td_abi_code(int32_t code, const char *name, taeda_error *error);

/* Where a kernel leaves its outputs. One that believes in more results than the call has writes on:
 * into places that are looked at, then into memory that nothing else needs. */
#define TD_ABI_OUTPUTS TD_MAX_OUTS
typedef struct td_abi_outputs {
    taeda_tensor *given[TD_ABI_OUTPUTS], *canary, *spare[47];
    char said[96]; /* what was wrong with them */
} td_abi_outputs;
static inline taeda_tensor **td_abi_outputs_open(td_abi_outputs *o)
{
    memset(o->given, 0, sizeof o->given);
    o->canary = (taeda_tensor *)o;
    return o->given;
}
/* What a kernel left as outputs is the caller's to free, each once: takes out inputs and what
 * stands there before, and frees what is beyond the call's results. NULL, or what was wrong with
 * them, whether the kernel succeeded or not. */
const char *td_abi_disown(const td_call *call, td_abi_outputs *outputs);

/* ---- list.c ---- */
int32_t td_abi_list_outputs(const taeda_call *call, int64_t count, taeda_tensor ***out);
/* What a kernel left of its Tensor[] result, which the caller takes over or frees: call->outs. */
td_status td_abi_take_list(td_call *call, const td_schema *s, int32_t code, td_abi_outputs *made,
                           taeda_error *error);

/* abi_ops.c: an extension's kernel as the implementation of a row */
td_status td_op_extension(td_call *call);
/* extension.c, for Python */
PyObject *td_load_extension(PyObject *module, PyObject *path);
PyObject *td_call_kernel(PyObject *module, PyObject *args);
PyObject *td_kernel_counts(PyObject *module, PyObject *kernel);

int32_t td_abi_find_op(const char *name, const taeda_op **out, taeda_error *error);
int32_t td_abi_call_op(taeda_op_call *call);
int32_t td_abi_register(const char *name, int32_t inputs, int32_t outputs, taeda_kernel kernel,
                        void *user);
int32_t td_abi_define(const taeda_op_def *def, taeda_error *error);
int32_t td_abi_derive(const taeda_derivative *derivative, taeda_error *error);
int32_t td_abi_empty_strided(int32_t dtype, int32_t device, int32_t ndim, const int64_t *sizes,
                             const int64_t *strides, taeda_tensor **out, taeda_error *error);
int32_t td_abi_empty_format(int32_t dtype, int32_t device, int32_t ndim, const int64_t *sizes,
                            int32_t format, taeda_tensor **out, taeda_error *error);
int32_t td_abi_scratch(int64_t bytes, void **out, taeda_error *error);
void td_abi_scratch_free(void *block, int64_t bytes);
int32_t td_abi_random_reserve(const taeda_value *generator, int64_t blocks, taeda_random *out,
                              taeda_error *error);
void td_abi_random_bits(const taeda_random *random, int64_t first, int64_t count, uint32_t *words);
extern TD_THREAD_LOCAL short td_abi_loops; /* bodies of extensions that this thread is in */
int td_abi_in_loop(void); /* is this thread in a body of the table's parallel_for? */
void *td_abi_python_release(void);
void td_abi_python_acquire(void *token);
int32_t td_abi_to_dlpack(const taeda_tensor *tensor, struct DLManagedTensorVersioned **out,
                         taeda_error *error);
int32_t td_abi_from_dlpack(struct DLManagedTensorVersioned *managed, taeda_tensor **out,
                           taeda_error *error);
/* call it; it holds Python's lock afterwards */
int32_t td_abi_run(taeda_kernel kernel, const taeda_call *call);
extern uint32_t td_abi_minor; /* of the library that is being initialised */
#endif
