/* extension.c - loading a library that was built against taeda/abi.h, and what it registers while
 * it is initialised. */
#include <dlfcn.h>
#include "abi/abi.h"

/* ---- what the library that is being loaded offers ---- */
typedef struct Kernel {
    taeda_kernel call;
    void *user;
    int32_t inputs, outputs;
    char name[64];
} Kernel;
/* dict: name -> capsule, of register_kernel; NULL outside taeda_ext_init */
static PyObject *kernels;
static PyObject *defined; /* list: texts, of define_op */
uint32_t td_abi_minor;
static taeda_error fault; /* the last refusal, for the sentence if the library gives up */

static int32_t note(int32_t code, const taeda_error *error)
{
    if (code) fault = *error;
    return code;
}

static void kernel_free(PyObject *capsule) { free(PyCapsule_GetPointer(capsule, "taeda.kernel")); }

int32_t td_abi_register(const char *name, int32_t inputs, int32_t outputs, taeda_kernel kernel,
                        void *user)
{
    if (!kernels || !kernel || inputs < 0 || inputs > TD_MAX_ARGS || outputs < 1 ||
        outputs > TD_MAX_OUTS || strlen(name) >= 64) {
        td_abi_error(&fault, TAEDA_VALUE_ERROR,
                     "register_kernel: \"%.60s\" with %d inputs and %d outputs; wanted a kernel, a "
                     "name of at most 63 bytes, 0 to %d inputs, 1 to %d outputs",
                     name, inputs, outputs, TD_MAX_ARGS, TD_MAX_OUTS);
        return TAEDA_VALUE_ERROR;
    }
    Kernel *k = malloc(sizeof *k);
    if (!k) return TAEDA_MEMORY_ERROR;
    *k = (Kernel){kernel, user, inputs, outputs, {0}};
    snprintf(k->name, sizeof k->name, "%s", name);
    PyObject *capsule = PyCapsule_New(k, "taeda.kernel", kernel_free);
    int bad = !capsule || PyDict_SetItemString(kernels, name, capsule) < 0;
    Py_XDECREF(capsule);
    return bad ? TAEDA_RUNTIME_ERROR : 0;
}

/* taeda._library._native.<function>(text, ...): new reference */
static PyObject *in_python(const char *function, const char *a, const char *b)
{
    PyObject *module = PyImport_ImportModule("taeda._library._native");
    PyObject *made = module ? PyObject_CallMethod(module, function, b ? "ss" : "s", a, b) : NULL;
    Py_XDECREF(module);
    return made;
}

static void set_native(td_schema *s, int slot, taeda_kernel call, void *user)
{
    if (!call) return;
    s->custom->native[slot] = (td_native){call, user, td_abi_minor};
    s->op.impl = td_op_extension;
    td_custom_changed(s);
}

static td_schema *enter(const char *schema, const char *doc, taeda_kernel cpu, taeda_kernel meta,
                        taeda_kernel cuda, void *user)
{
    PyObject *text = in_python("define", schema, doc);
    const char *name = text ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    td_schema *s = name && PyList_Append(defined, text) == 0 ? td_find_custom(name) : NULL;
    if (s && s->list_result && td_abi_minor < 5) {
        PyErr_Format(PyExc_ValueError,
                     "%s: results that are Tensor[] came with taeda ABI 1.5, and the library was "
                     "built against 1.%u: build it against this core's headers",
                     s->text, td_abi_minor);
        s = NULL;
    }
    if (s) {
        set_native(s, TD_SLOT_CPU, cpu, user);
        set_native(s, TD_SLOT_META, meta, user);
        set_native(s, TD_SLOT_CUDA, cuda, user);
    }
    Py_XDECREF(text);
    return s;
}

int32_t td_abi_define(const taeda_op_def *def, taeda_error *error)
{
    int32_t code = td_abi_size("taeda_op_def", def, sizeof *def, sizeof *def, error);
    if (code) return note(code, error);
    if (!kernels)
        return note(
            td_abi_fail(error, TAEDA_RUNTIME_ERROR, "define_op: only inside taeda_ext_init"),
            error);
    return enter(def->schema, def->doc, def->cpu, def->meta, def->cuda, def->user)
               ? 0
               : note(td_abi_exception(error), error);
}

static td_schema *backward_of(const taeda_derivative *d)
{
    if (!strchr(d->backward, '(')) return td_find_schema(d->backward);
    td_schema *s = enter(d->backward, "", d->cpu, d->meta, d->cuda, d->user);
    if (s) s->custom->may_omit = 1;
    return s;
}

int32_t td_abi_derive(const taeda_derivative *d, taeda_error *error)
{
    int32_t code = td_abi_size("taeda_derivative", d, sizeof *d, sizeof *d, error);
    if (code) return note(code, error);
    if (!kernels)
        return note(td_abi_fail(error, TAEDA_RUNTIME_ERROR,
                                "define_derivative: only inside taeda_ext_init"),
                    error);
    td_schema *s = td_find_custom(d->op), *b = s ? backward_of(d) : NULL;
    if (!b && PyErr_Occurred()) return note(td_abi_exception(error), error);
    if (!s || !b)
        return note(td_abi_error(error, TAEDA_VALUE_ERROR,
                                 "define_derivative: there is no operator '%s'",
                                 s ? d->backward : d->op),
                    error);
    if (b->custom && b->op.impl == td_op_extension) b->custom->may_omit = 1;
    PyObject *done = in_python("derive", s->text, b->text);
    Py_XDECREF(done);
    return done ? 0 : note(td_abi_exception(error), error);
}

/* ---- loading ---- */
static int
is_library(const char *path) /* a sentence for files that the linker's message leaves in the dark */
{
#ifdef __ELF__
    unsigned char head[4];
    FILE *file = fopen(path, "rb");
    if (!file) return 1; /* dlopen names the cause */
    size_t n = fread(head, 1, sizeof head, file);
    fclose(file);
    if (n == 4 && !memcmp(head, "\177ELF", 4)) return 1;
    PyErr_Format(PyExc_ImportError,
                 n ? "%s is no shared library: it does not begin as one does (\\177ELF)"
                   : "%s is empty: wanted a shared library",
                 path);
    return 0;
#else
    return 1;
#endif
}

static int check_version(const char *path, uint32_t wanted)
{
    uint32_t major = wanted >> 16, minor = wanted & 0xffff;
    if (major == td_api.major && minor <= td_api.minor) return 0;
    PyErr_Format(PyExc_ImportError,
                 "%s needs taeda ABI %u.%u, this core has %u.%u: build the extension against this "
                 "core's headers, or install a core that fits",
                 path, major, minor, td_api.major, td_api.minor);
    return -1;
}

static void forget_defined(void) /* a library that gives up half-way leaves nothing behind */
{
    for (Py_ssize_t i = 0; i < PyList_Size(defined); i++) {
        PyObject *done =
            in_python("forget", PyUnicode_AsUTF8AndSize(PyList_GetItem(defined, i), NULL), NULL);
        if (!done) PyErr_WriteUnraisable(defined);
        Py_XDECREF(done);
    }
}

/* One library starts at a time: other threads wait. One that starts may not load another. */
static PyThread_type_lock starting;
static unsigned long starter;

static int begin_start(void)
{
    if (!starting && !(starting = PyThread_allocate_lock())) return td_no_memory(), -1;
    if (starter == PyThread_get_thread_ident()) return 0; /* `kernels` says so to the caller */
    if (!PyThread_acquire_lock(starting, NOWAIT_LOCK)) {
        Py_BEGIN_ALLOW_THREADS
        PyThread_acquire_lock(starting, WAIT_LOCK);
        Py_END_ALLOW_THREADS
    }
    starter = PyThread_get_thread_ident();
    return 1;
}

static void end_start(void)
{
    starter = 0;
    PyThread_release_lock(starting);
}

static PyObject *initialise(const char *path, uint32_t minor, int32_t (*init)(const taeda_api *))
{
    if (kernels)
        return PyErr_Format(
            PyExc_ImportError,
            "%s is loaded by the taeda_ext_init of another extension: load one after the other",
            path);
    fault = (taeda_error){0};
    kernels = PyDict_New();
    defined = PyList_New(0);
    if (!kernels || !defined) {
        Py_CLEAR(kernels);
        Py_CLEAR(defined);
        return NULL;
    }
    td_abi_minor = minor;
    int32_t code = init(&td_api);
    PyObject *made = NULL;
    if (code) forget_defined();
    if (code && !PyErr_Occurred())
        PyErr_Format(PyExc_ImportError, "%s: taeda_ext_init returned %d%s%s", path, code,
                     fault.message[0] ? ": " : "", fault.message);
    if (!code) made = PyTuple_Pack(2, kernels, defined);
    Py_CLEAR(kernels);
    Py_CLEAR(defined);
    return made;
}

/* load_extension(path) -> ({name: kernel}, [operators]) */
PyObject *td_load_extension(PyObject *m, PyObject *path_object)
{
    const char *path = PyUnicode_AsUTF8AndSize(path_object, NULL);
    if (!path || !is_library(path)) return NULL;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return PyErr_Format(PyExc_ImportError, "cannot open the extension: %s", dlerror());
    uint32_t (*abi)(void);
    int32_t (*init)(const taeda_api *);
    *(void **)&abi = dlsym(library, "taeda_ext_abi");
    *(void **)&init = dlsym(library, "taeda_ext_init");
    if (!abi || !init)
        PyErr_Format(PyExc_ImportError, "%s is no taeda extension: it lacks %s", path,
                     abi    ? "taeda_ext_init"
                     : init ? "taeda_ext_abi"
                            : "taeda_ext_abi and taeda_ext_init");
    else if (check_version(path, abi()) == 0) { /* from here on something may point into it */
        int began = begin_start();
        PyObject *made = began < 0 ? NULL : initialise(path, abi() & 0xffff, init);
        if (began > 0) end_start();
        return made;
    }
    dlclose(library);
    return NULL;
}

/* ---- kernels of register_kernel ---- */
static PyObject *results(Kernel *k, taeda_tensor **outputs)
{
    PyObject *made = k->outputs == 1 ? NULL : PyTuple_New(k->outputs);
    for (int i = 0; i < k->outputs; i++) {
        PyObject *o = td_wrap(td_inner(outputs[i]));
        if (k->outputs == 1) return o;
        if (made && o) PyTuple_SetItem(made, i, o);
        else {
            Py_XDECREF(o);
            Py_CLEAR(made);
        }
    }
    return made;
}

/* the handles of a call, pinned in `f`; 0, or -1 with an exception */
static int take_inputs(td_frame *f, const Kernel *k, PyObject *tensors)
{
    for (int i = 0; i < k->inputs; i++) {
        PyObject *o = PyTuple_GetItem(tensors, i);
        if (!td_is_tensor(o))
            return PyErr_Format(PyExc_TypeError, "%s: argument %d must be a Tensor, not %R",
                                k->name, i, Py_TYPE(o)),
                   -1;
        if (td_has_parts((PyTensor *)o)) return td_refuse_memory(o, k->name), -1;
        if (!(f->tensors[i] = td_frame_pin(f, o))) return -1;
        if (td_device_type((td_device)f->tensors[i]->device) > TD_META)
            return PyErr_Format(PyExc_NotImplementedError,
                                "%s: a kernel offered by name alone computes on the cpu: move the "
                                "tensor with .cpu(), or define an operator with a kernel for cuda",
                                k->name),
                   -1;
    }
    f->call.nargs = 1;
    f->call.nout = k->outputs;
    f->call.args[0] = (td_arg){TD_ARG_TENSORS, k->inputs, {.tensors = f->tensors}};
    return 0;
}

static PyObject *run_kernel(Kernel *k, td_frame *f)
{
    const taeda_tensor *inputs[TD_MAX_ARGS];
    td_abi_outputs made;
    taeda_tensor **outputs = td_abi_outputs_open(&made);
    int32_t device = TAEDA_CPU;
    for (int i = 0; i < k->inputs; i++) {
        inputs[i] = td_outer(f->tensors[i]);
        if (td_is_meta(f->tensors[i])) device = TAEDA_META;
    }
    taeda_error error = {0};
    taeda_call call = {sizeof call, k->inputs, k->outputs, inputs, outputs, k->user,
                       &error,      0,         device,     NULL,   NULL};
    int32_t code = td_abi_run(k->call, &call);
    const char *fault = td_abi_disown(&f->call, &made);
    for (int i = 0; i < k->outputs && !fault; i++)
        if (!outputs[i]) fault = "the kernel succeeded but made no output";
    if (fault && !code) code = td_abi_fail(&error, TAEDA_RUNTIME_ERROR, fault);
    if (!code) return results(k, outputs);
    for (int i = 0; i < k->outputs; i++) td_tensor_free(td_inner(outputs[i]));
    return td_raise(td_abi_code(code, k->name, &error));
}

/* call_kernel(kernel, tensors) -> tensor or tuple */
PyObject *td_call_kernel(PyObject *m, PyObject *args)
{
    PyObject *capsule, *tensors;
    if (!PyArg_ParseTuple(args, "OO!", &capsule, &PyTuple_Type, &tensors)) return NULL;
    Kernel *k = PyCapsule_GetPointer(capsule, "taeda.kernel");
    if (!k) return NULL;
    if (PyTuple_Size(tensors) != k->inputs)
        return PyErr_Format(PyExc_TypeError, "%s takes %d tensors, got %zd", k->name, k->inputs,
                            PyTuple_Size(tensors));
    td_frame f;
    td_frame_open(&f);
    PyObject *made = take_inputs(&f, k, tensors) < 0 ? NULL : run_kernel(k, &f);
    td_frame_close(&f);
    return made;
}

/* kernel_counts(kernel) -> (inputs, outputs) */
PyObject *td_kernel_counts(PyObject *m, PyObject *capsule)
{
    Kernel *k = PyCapsule_GetPointer(capsule, "taeda.kernel");
    return k ? Py_BuildValue("(ii)", (int)k->inputs, (int)k->outputs) : NULL;
}
