/* device.c - an extension that uses what ABI 1.3 added: device numbers, and kernels of its own on
 * the current stream of a CUDA device. It finds the driver as the core does, by TAEDA_LIBCUDA. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "taeda/abi.h"

#ifndef ABI
#define ABI TAEDA_ABI
#endif
static const taeda_api *api;

/* ---- the driver ---- */
static int (*load)(void **module, const void *image);
static int (*find)(void **function, void *module, const char *name);
static int (*launch)(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                     unsigned shared, void *stream, void **arguments, void **extra);
static int (*stream_new)(void **stream, unsigned flags, int priority);
static int (*event_new)(void **event, unsigned flags);
static int (*record)(void *event, void *stream);
static int (*stream_wait)(void *stream, void *event, unsigned flags);

static int open_driver(void)
{
    void *library = dlopen(getenv("TAEDA_LIBCUDA"), RTLD_NOW);
    if (!library) return 1;
    *(void **)&load = dlsym(library, "cuModuleLoadData");
    *(void **)&find = dlsym(library, "cuModuleGetFunction");
    *(void **)&launch = dlsym(library, "cuLaunchKernel");
    *(void **)&stream_new = dlsym(library, "cuStreamCreateWithPriority");
    *(void **)&event_new = dlsym(library, "cuEventCreate");
    *(void **)&record = dlsym(library, "cuEventRecord");
    *(void **)&stream_wait = dlsym(library, "cuStreamWaitEvent");
    return !load || !find || !launch || !stream_new || !event_new || !record || !stream_wait;
}

/* ---- twice: its kernel is kernels.cpp, in a module of its own on each device ---- */
typedef struct work {
    const float *x;
    float *y;
    int64_t n;
} work;

static int32_t queue(const taeda_facts *x, float *y, void *stream, taeda_error *error)
{
    static void *functions[32];
    void **function = &functions[TAEDA_DEVICE_INDEX(x->device)], *module;
    int failed = 0;
    if (!*function)
        failed = load(&module, getenv("KERNELS")) || find(function, module, "twice_alone");
    work w = {x->data, y, x->numel};
    void *argument = &w;
    if (!failed) failed = launch(*function, 2, 1, 1, 32, 1, 1, 0, stream, &argument, NULL);
    return failed ? api->fail(error, TAEDA_RUNTIME_ERROR, "the kernel was not launched") : 0;
}

static int32_t begin(const taeda_call *call, taeda_tensor **x, taeda_facts *in, float **y)
{
    taeda_facts out = {.size = sizeof out};
    int32_t code = api->contiguous(call->inputs[0], x, call->error);
    if (code) return code;
    api->facts(*x, in);
    code = api->empty_format(in->dtype, call->device, in->ndim, in->sizes, 0, &call->outputs[0],
                             call->error);
    if (code) return api->release(*x), code;
    api->facts(call->outputs[0], &out);
    if (out.device != call->device || in->device != call->device || out.on_cpu)
        code = api->fail(call->error, TAEDA_RUNTIME_ERROR, "facts name another device");
    *y = out.data;
    return code;
}

static int32_t twice(const taeda_call *call) /* (Tensor x) */
{
    taeda_facts in = {.size = sizeof in};
    taeda_tensor *x;
    float *y;
    void *stream;
    int32_t code = begin(call, &x, &in, &y);
    if (code) return code;
    code = api->current_stream(call->device, &stream, call->error);
    if (!code && in.numel) code = queue(&in, y, stream, call->error);
    api->release(x);
    return code;
}

/* The same on a stream of its own, which waits for the current one and is waited for. */
static int32_t beside(const taeda_call *call) /* (Tensor x) */
{
    static void *streams[32], *events[32];
    taeda_facts in = {.size = sizeof in};
    taeda_tensor *x;
    float *y;
    void *stream;
    int32_t code = begin(call, &x, &in, &y), k = TAEDA_DEVICE_INDEX(call->device);
    if (code) return code;
    code = api->current_stream(call->device, &stream, call->error);
    if (!streams[k]) stream_new(&streams[k], 1, 0), event_new(&events[k], 2);
    record(events[k], stream);
    stream_wait(streams[k], events[k], 0);
    if (!code) code = queue(&in, y, streams[k], call->error);
    record(events[k], streams[k]);
    stream_wait(stream, events[k], 0);
    if (!code) code = api->record_stream(x, streams[k], call->error);
    api->release(x);
    return code;
}

static int32_t shapes(const taeda_call *call) /* (Tensor x): on meta */
{
    taeda_facts in = {.size = sizeof in};
    api->facts(call->inputs[0], &in);
    return api->empty(in.dtype, in.ndim, in.sizes, 0, &call->outputs[0], call->error);
}

/* ---- questions, answered on the cpu ---- */
static int64_t *numbers(const taeda_call *call, int64_t n, int32_t *code)
{
    taeda_facts out = {.size = sizeof out};
    *code = api->empty(TAEDA_INT64, 1, &n, 1, &call->outputs[0], call->error);
    if (!*code) api->facts(call->outputs[0], &out);
    return out.data;
}

static int32_t place(const taeda_call *call) /* (Tensor x): device number, its stream */
{
    int32_t code;
    void *stream = NULL;
    int64_t *out = numbers(call, 2, &code);
    if (!code) code = api->current_stream(call->device, &stream, call->error);
    if (code) return code;
    out[0] = call->device;
    out[1] = (int64_t)(uintptr_t)stream;
    return 0;
}

static int32_t available(const taeda_call *call) /* (int number) */
{
    int32_t code;
    int64_t *out = numbers(call, 1, &code);
    if (!code) *out = api->device_available((int32_t)call->args[0].as.integer);
    return code;
}

static int32_t stream_of(const taeda_call *call) /* (int number) */
{
    int32_t code;
    void *stream = NULL;
    int64_t *out = numbers(call, 1, &code);
    if (!code) code = api->current_stream((int32_t)call->args[0].as.integer, &stream, call->error);
    if (!code) *out = (int64_t)(uintptr_t)stream;
    return code;
}

static int32_t made(const taeda_call *call) /* (int number) */
{
    int64_t size = 3, stride = 1;
    return api->empty_strided(TAEDA_FLOAT32, (int32_t)call->args[0].as.integer, 1, &size, &stride,
                              &call->outputs[0], call->error);
}

static int32_t recorded(const taeda_call *call) /* (Tensor x) */
{
    int32_t code = api->record_stream(call->inputs[0], NULL, call->error);
    return code ? code : api->contiguous(call->inputs[0], &call->outputs[0], call->error);
}

/* ones(2) by the core, on a device if one is given as the core tells it or by its number */
static int32_t ones(const taeda_call *call) /* (Device? device, int number) */
{
    const taeda_op *op;
    int64_t size = 2;
    taeda_value given[4] = {{TAEDA_KIND_INTS, 0, 1, {.integers = &size}}, {0}, {0}, {0}}, result;
    taeda_op_call c = {sizeof c, 4, 0, given, &result, 1, 0, call->error};
    given[3] = call->args[0];
    if (call->args[1].as.integer) given[3] = call->args[1], given[3].kind = TAEDA_KIND_DEVICE;
    int32_t code = api->find_op("ones", &op, call->error);
    c.op = op;
    if (!code) code = api->call_op(&c);
    if (!code) call->outputs[0] = result.as.tensor;
    return code;
}

static int32_t define(const char *schema, taeda_kernel cpu, taeda_kernel meta, taeda_kernel cuda)
{
    char text[96];
    taeda_error error;
    snprintf(text, sizeof text, "%s::%s", NAMESPACE, schema);
    taeda_op_def def = {sizeof def, 0, text, cpu, meta, cuda, 0, ""};
    return api->define_op(&def, &error);
}

uint32_t taeda_ext_abi(void) { return ABI; }
int32_t taeda_ext_init(const taeda_api *given)
{
    api = given;
    return open_driver() || define("twice(Tensor x) -> Tensor", 0, shapes, twice) ||
           define("beside(Tensor x) -> Tensor", 0, shapes, beside) ||
           define("place(Tensor x) -> Tensor", 0, 0, place) ||
           define("available(int number) -> Tensor", available, 0, 0) ||
           define("stream_of(int number) -> Tensor", stream_of, 0, 0) ||
           define("made(int number) -> Tensor", made, 0, 0) ||
           define("recorded(Tensor x) -> Tensor", recorded, 0, recorded) ||
           define("ones(Device? device=None, int number=0) -> Tensor", ones, 0, ones);
}
