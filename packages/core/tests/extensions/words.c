/* words.c - an extension that uses what ABI 1.2 added: strides, work space, random bits, Python's
 * lock, DLPack, later kinds. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include "taeda/abi.h"

static const taeda_api *api;
static const taeda_op *add;

static float *data_of(const taeda_tensor *t, taeda_facts *f)
{
    *f = (taeda_facts){.size = sizeof *f};
    api->facts(t, f);
    return (float *)f->data;
}

/* ---- tensors of any strides ---- */
static int32_t strided(const taeda_call *call) /* (int[] sizes, int[] strides, bool meta) */
{
    const taeda_value *v = call->args;
    return api->empty_strided(TAEDA_FLOAT32, v[2].as.integer ? TAEDA_META : TAEDA_CPU,
                              (int32_t)v[0].count, v[0].as.integers, v[1].as.integers,
                              &call->outputs[0], call->error);
}
static int32_t formatted(const taeda_call *call) /* (int[] sizes, int format) */
{
    const taeda_value *v = call->args;
    return api->empty_format(TAEDA_FLOAT32, TAEDA_CPU, (int32_t)v[0].count, v[0].as.integers,
                             (int32_t)v[1].as.integer, &call->outputs[0], call->error);
}

/* ---- work space: each body takes its own ---- */
typedef struct turn {
    float *x;
    int32_t code;
} turn;
static void reverse(void *context, int64_t begin, int64_t end)
{
    turn *t = context;
    taeda_error error;
    void *space;
    int64_t n = end - begin, bytes = n * (int64_t)sizeof(float);
    if (api->scratch(bytes, &space, &error)) {
        t->code = error.code;
        return;
    }
    memcpy(space, t->x + begin, (size_t)bytes);
    for (int64_t i = 0; i < n; i++) t->x[begin + i] = -((float *)space)[i];
    api->scratch_free(space, bytes);
}
static int32_t negated(const taeda_call *call) /* (Tensor x) */
{
    taeda_facts f, in;
    float *x = data_of(call->inputs[0], &in);
    int32_t code = api->empty(in.dtype, in.ndim, in.sizes, 1, &call->outputs[0], call->error);
    if (code) return code;
    turn t = {data_of(call->outputs[0], &f), 0};
    memcpy(t.x, x, (size_t)(f.numel * f.itemsize));
    api->parallel_for(f.numel, 16, reverse, &t);
    return t.code ? api->fail(call->error, t.code, "no work space") : 0;
}
static int32_t space_of(const taeda_call *call) /* (int bytes): is it at a multiple of 64? */
{
    void *space;
    int64_t bytes = call->args[0].as.integer, none = 0;
    int32_t code = api->scratch(bytes, &space, call->error);
    if (code) return code;
    int wrong = (uintptr_t)space % 64 != 0;
    api->scratch_free(space, bytes);
    if (wrong) return api->fail(call->error, TAEDA_RUNTIME_ERROR, "an odd address");
    return api->empty(TAEDA_FLOAT32, 0, &none, 1, &call->outputs[0], call->error);
}

/* ---- random bits ---- */
typedef struct draw {
    taeda_random part;
    int32_t *words;
} draw;
static void draw_some(void *context, int64_t begin, int64_t end)
{
    const draw *d = context;
    api->random_bits(&d->part, begin, end - begin, (uint32_t *)d->words + 4 * begin);
}
static int32_t bits(const taeda_call *call) /* (int blocks, Generator? generator) */
{
    draw d = {{.size = sizeof d.part}, 0};
    taeda_facts f;
    int64_t blocks = call->args[0].as.integer, sizes[2] = {blocks, 4};
    int32_t code = api->random_reserve(&call->args[1], blocks, &d.part, call->error);
    if (!code) code = api->empty(TAEDA_INT32, 2, sizes, 1, &call->outputs[0], call->error);
    if (code) return code;
    d.words = (int32_t *)data_of(call->outputs[0], &f);
    api->parallel_for(blocks, 1, draw_some, &d);
    return 0;
}
static int32_t
seeded(const taeda_call *call) /* (Generator? generator): hands it on to an operator */
{
    const taeda_op *randperm;
    taeda_value given[2] = {{TAEDA_KIND_INT, 0, 0, {.integer = 9}}, call->args[0]}, made;
    int32_t code = api->find_op("randperm", &randperm, call->error);
    taeda_op_call c = {sizeof c, 2, randperm, given, &made, 1, 0, call->error};
    if (!code) code = api->call_op(&c);
    if (!code) call->outputs[0] = made.as.tensor;
    return code;
}

/* ---- numbers above INT64_MAX ---- */
static int32_t natural(const taeda_call *call) /* (Scalar x): its kind and its two halves */
{
    int64_t size = 3;
    taeda_facts f;
    int32_t code = api->empty(TAEDA_FLOAT32, 1, &size, 1, &call->outputs[0], call->error);
    if (code) return code;
    float *out = data_of(call->outputs[0], &f);
    uint64_t n = call->args[0].as.natural;
    out[0] = (float)call->args[0].kind;
    out[1] = (float)(n >> 40);
    out[2] = (float)(n & 0xffff);
    return 0;
}
static int32_t filled(const taeda_call *call) /* (Scalar x): full((2,), x) by the core */
{
    const taeda_op *full;
    int64_t size = 2;
    taeda_value given[3] = {{TAEDA_KIND_INTS, 0, 1, {.integers = &size}},
                            call->args[0],
                            {TAEDA_KIND_DTYPE, 0, 0, {.integer = TAEDA_UINT64}}},
                made;
    int32_t code = api->find_op("full", &full, call->error);
    taeda_op_call c = {sizeof c, 3, full, given, &made, 1, 0, call->error};
    if (!code) code = api->call_op(&c);
    if (!code) call->outputs[0] = made.as.tensor;
    return code;
}

/* ---- Python's lock: a thread of our own calls an operator, and the kernel waits for it ---- */
typedef struct errand {
    const taeda_tensor *x;
    taeda_tensor *made;
    taeda_error error;
    int32_t code;
} errand;
static void *run_errand(void *context)
{
    errand *e = context;
    taeda_value given[2] = {{TAEDA_KIND_TENSOR, 0, 0, {.tensor = (taeda_tensor *)e->x}},
                            {TAEDA_KIND_INT, 0, 0, {.integer = 1}}},
                made;
    taeda_op_call c = {sizeof c, 2, add, given, &made, 1, 0, &e->error};
    e->code = api->call_op(&c);
    if (!e->code) e->made = made.as.tensor;
    return NULL;
}
static int32_t waits(const taeda_call *call) /* (Tensor x) */
{
    errand e = {.x = call->inputs[0]};
    pthread_t thread;
    void *token = api->python_release();
    if (api->python_release()) return api->fail(call->error, TAEDA_RUNTIME_ERROR, "given up twice");
    pthread_create(&thread, NULL, run_errand, &e);
    pthread_join(thread, NULL);
    run_errand(&e); /* the kernel's own thread, too, may call without the lock */
    api->python_acquire(token);
    api->python_acquire(token);
    api->python_acquire(NULL);
    if (e.code) return api->fail(call->error, e.code, e.error.message);
    call->outputs[0] = e.made;
    return 0;
}
static int32_t forgets(const taeda_call *call) /* (Tensor x) */
{
    api->python_release();
    return api->contiguous(call->inputs[0], &call->outputs[0], call->error);
}

/* ---- DLPack ---- */
static int32_t round_trip(const taeda_call *call) /* (Tensor x): another handle on its memory */
{
    struct DLManagedTensorVersioned *managed;
    int32_t code = api->to_dlpack(call->inputs[0], &managed, call->error);
    return code ? code : api->from_dlpack(managed, &call->outputs[0], call->error);
}
typedef struct {
    uint32_t major, minor;
    void *context;
    void (*deleter)(void *);
    uint64_t flags;
    void *data;
    int32_t device, id, ndim;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape, *strides;
    uint64_t offset;
} managed_tensor;
static int deleted;
static void count(void *self) { deleted += self != NULL; }
static int32_t
foreign(const taeda_call *call) /* (int major, int flags, int device): a struct of our own */
{
    static float numbers[3] = {1, 2, 3};
    static int64_t shape[1] = {3};
    static managed_tensor one;
    one = (managed_tensor){(uint32_t)call->args[0].as.integer,
                           0,
                           NULL,
                           count,
                           (uint64_t)call->args[1].as.integer,
                           numbers,
                           (int32_t)call->args[2].as.integer,
                           0,
                           1,
                           2,
                           32,
                           1,
                           shape,
                           NULL,
                           0};
    return api->from_dlpack((struct DLManagedTensorVersioned *)&one, &call->outputs[0],
                            call->error);
}
static int32_t deletions(const taeda_call *call) /* () */
{
    int64_t size = deleted;
    return api->empty(TAEDA_BOOL, 1, &size, 1, &call->outputs[0], call->error);
}

uint32_t taeda_ext_abi(void) { return ABI; }
int32_t taeda_ext_init(const taeda_api *given)
{
    static const struct {
        const char *schema;
        taeda_kernel call;
    } ops[] = {{"strided(int[] sizes, int[] strides, bool meta) -> Tensor", strided},
               {"formatted(int[] sizes, int format) -> Tensor", formatted},
               {"negated(Tensor x) -> Tensor", negated},
               {"space_of(int bytes) -> Tensor", space_of},
               {"bits(int blocks, Generator? generator=None) -> Tensor", bits},
               {"seeded(Generator? generator=None) -> Tensor", seeded},
               {"natural(Scalar x) -> Tensor", natural},
               {"filled(Scalar x) -> Tensor", filled},
               {"waits(Tensor x) -> Tensor", waits},
               {"forgets(Tensor x) -> Tensor", forgets},
               {"round_trip(Tensor(a) x) -> Tensor(a)", round_trip},
               {"foreign(int major, int flags, int device) -> Tensor", foreign},
               {"deletions() -> Tensor", deletions}};
    taeda_error error;
    int32_t code = 0;
    char schema[128];
    api = given;
    for (size_t i = 0; !code && i < sizeof ops / sizeof *ops; i++) {
        snprintf(schema, sizeof schema, "%s::%s", NAMESPACE, ops[i].schema);
        taeda_op_def def = {sizeof def, 0, schema, ops[i].call, 0, 0, 0, ""};
        code = api->define_op(&def, &error);
    }
    return code ? code : api->find_op("add.Tensor", &add, &error);
}
