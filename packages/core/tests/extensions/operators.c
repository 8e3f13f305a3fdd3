/* operators.c - an extension that uses what ABI 1.1 added: operators with a schema, derivatives,
 * views, calls, values. */
#include <string.h>
#include "taeda/abi.h"

#ifndef NAMESPACE
#define NAMESPACE "abitest"
#endif
static const taeda_api *api;

/* ---- scale: a derivative of its own, and one of that ---- */
typedef struct work {
    const float *x;
    float *y, by;
} work;
static void body(void *context, int64_t begin, int64_t end)
{
    const work *w = (const work *)context;
    for (int64_t i = begin; i < end; i++) w->y[i] = w->by * w->x[i];
}

static int32_t scaled(const taeda_call *call, const taeda_tensor *input, double by)
{
    taeda_facts in = {sizeof in}, out = {sizeof out};
    taeda_tensor *x;
    int32_t code = api->contiguous(input, &x, call->error);
    if (code) return code;
    api->facts(x, &in);
    if (in.dtype != TAEDA_FLOAT32)
        code = api->fail(call->error, TAEDA_TYPE_ERROR, "wanted float32");
    else
        code = api->empty(in.dtype, in.ndim, in.sizes, call->device == TAEDA_CPU, &call->outputs[0],
                          call->error);
    if (!code && call->device == TAEDA_CPU) {
        api->facts(call->outputs[0], &out);
        work w = {(const float *)in.data, (float *)out.data, (float)by};
        api->parallel_for(in.numel, 4096, body, &w);
    }
    api->release(x);
    return code;
}
static int32_t scale(const taeda_call *call)
{
    return scaled(call, call->inputs[0], call->args[1].as.real);
}
static int32_t scale_twice(const taeda_call *call) /* grads: Tensor?[] */
{
    return scaled(call, call->args[0].as.tensors[0], call->args[1].as.real);
}

/* ---- window: a view; negative strides are refused by nobody ---- */
static int32_t window(const taeda_call *call)
{
    taeda_facts in = {sizeof in};
    api->facts(call->inputs[0], &in);
    int64_t start = call->args[1].as.integer, length = call->args[2].as.integer;
    return api->view(call->inputs[0], 1, &length, in.strides, start * in.strides[0],
                     &call->outputs[0], call->error);
}

/* ---- bump: writes its argument, which is its result ---- */
static int32_t bump(const taeda_call *call)
{
    taeda_facts in = {sizeof in};
    api->facts(call->inputs[0], &in);
    if (!in.is_contiguous)
        return api->fail(call->error, TAEDA_VALUE_ERROR, "wanted contiguous memory");
    for (int64_t i = 0; call->device == TAEDA_CPU && i < in.numel; i++)
        ((float *)in.data)[i] += (float)call->args[1].as.integer;
    return 0;
}

/* ---- composed: other operators, by name ---- */
static int32_t call1(const char *name, const taeda_value *args, int32_t n, taeda_value *result,
                     taeda_error *error)
{
    const taeda_op *op;
    int32_t code = api->find_op(name, &op, error);
    if (code) return code;
    taeda_op_call call = {sizeof call, n, op, args, result, 1, 0, error};
    return api->call_op(&call);
}
static int32_t composed(const taeda_call *call) /* sum(x * 3, [0], keepdim=True) */
{
    static const int64_t dims[] = {0};
    taeda_value args[3] = {{TAEDA_KIND_TENSOR}, {TAEDA_KIND_INT}}, product = {0}, sum = {0};
    args[0].as.tensor = (taeda_tensor *)call->inputs[0];
    args[1].as.integer = 3;
    int32_t code = call1("mul.Tensor", args, 2, &product, call->error);
    if (code) return code;
    args[0] = product;
    args[1].kind = TAEDA_KIND_INTS;
    args[1].count = 1;
    args[1].as.integers = dims;
    args[2].kind = TAEDA_KIND_BOOL;
    args[2].as.integer = 1;
    code = call1("sum.dim_IntList", args, 3, &sum, call->error);
    api->release(product.as.tensor);
    if (!code) call->outputs[0] = sum.as.tensor;
    return code;
}

/* ---- by_name: any operator of two tensors; what it answers comes back, so that refusals can be
 * looked at ---- */
static int32_t by_name(const taeda_call *call)
{
    taeda_value args[2] = {{TAEDA_KIND_TENSOR}, {TAEDA_KIND_TENSOR}}, result = {0};
    args[0].as.tensor = (taeda_tensor *)call->inputs[0];
    args[1].as.tensor = (taeda_tensor *)call->inputs[1];
    int32_t code = call1(call->args[0].as.string, args, 2, &result, call->error);
    if (!code) call->outputs[0] = result.as.tensor;
    return code;
}

/* ---- kinds: the kind and the length of every argument, as int64 ---- */
static int32_t kinds(const taeda_call *call)
{
    int64_t sizes[] = {call->arg_count, 2};
    taeda_facts out = {sizeof out};
    int32_t code = api->empty(TAEDA_INT64, 2, sizes, 1, &call->outputs[0], call->error);
    if (code) return code;
    api->facts(call->outputs[0], &out);
    for (int32_t i = 0; i < call->arg_count; i++) {
        ((int64_t *)out.data)[2 * i] = call->args[i].kind;
        ((int64_t *)out.data)[2 * i + 1] = call->args[i].count;
    }
    return 0;
}

/* ---- values: what the arguments of plain kinds held, as float64 ---- */
static int32_t values(const taeda_call *call)
{
    const taeda_value *a = call->args;
    double held[] = {(double)a[0].as.integer,
                     a[1].as.real,
                     (double)a[2].as.integer,
                     a[3].as.pair[0],
                     a[3].as.pair[1],
                     (double)strlen(a[4].as.string),
                     (double)a[5].as.integers[1],
                     a[6].as.reals[0],
                     (double)a[7].as.integers[0]};
    int64_t n = sizeof held / sizeof *held;
    taeda_facts out = {sizeof out};
    int32_t code = api->empty(TAEDA_FLOAT64, 1, &n, 1, &call->outputs[0], call->error);
    if (code) return code;
    api->facts(call->outputs[0], &out);
    memcpy(out.data, held, sizeof held);
    return 0;
}

/* ---- facts: what the table says of dtypes and devices ---- */
static int32_t facts(const taeda_call *call)
{
    taeda_dtype_facts d = {sizeof d};
    int32_t common = -1,
            code = api->dtype_facts((int32_t)call->args[0].as.integer, &d, call->error);
    if (!code)
        code = api->promote_dtypes((int32_t)call->args[0].as.integer, TAEDA_FLOAT16, &common,
                                   call->error);
    if (code) return code;
    int64_t held[] = {d.category,
                      d.itemsize,
                      d.is_signed,
                      (int64_t)strlen(d.name),
                      common,
                      api->default_dtype(),
                      api->device_available(TAEDA_CPU),
                      api->device_available(TAEDA_CUDA),
                      api->thread_count() > 0};
    int64_t n = sizeof held / sizeof *held;
    taeda_facts out = {sizeof out};
    if ((code = api->empty(TAEDA_INT64, 1, &n, 1, &call->outputs[0], call->error))) return code;
    api->facts(call->outputs[0], &out);
    memcpy(out.data, held, sizeof held);
    return 0;
}

/* ---- kernels that break the rules ---- */
static int32_t fails(const taeda_call *call)
{
    return api->fail(call->error, (int32_t)call->args[0].as.integer, "as asked");
}
static int32_t gives_input_back(const taeda_call *call)
{
    return call->outputs[0] = (taeda_tensor *)call->inputs[0], 0;
}
static int32_t makes_nothing(const taeda_call *call) { return (void)call, 0; }
static int32_t shares(const taeda_call *call)
{
    taeda_facts in = {sizeof in};
    api->facts(call->inputs[0], &in);
    return api->view(call->inputs[0], in.ndim, in.sizes, in.strides, 0, &call->outputs[0],
                     call->error);
}
static void reserves(void *context, int64_t begin, int64_t end)
{
    taeda_error error = {0};
    taeda_random part = {sizeof part, 0, 0, 0};
    taeda_value none = {0};
    int32_t code = begin < end ? api->random_reserve(&none, 1, &part, &error) : 0;
    if (code) *(int32_t *)context = code;
}
static int32_t reserves_in_a_loop(const taeda_call *call)
{
    int32_t code = 0;
    api->parallel_for(1 << 20, 1, reserves, &code);
    return code ? api->fail(call->error, code, "random_reserve in a body")
                : scaled(call, call->inputs[0], 1);
}

static int32_t define(const char *schema, taeda_kernel cpu, taeda_kernel meta)
{
    taeda_error error = {0};
    taeda_op_def def = {sizeof def, 0, schema, cpu, meta, cpu, 0, "Of the tests."};
    return api->define_op(&def, &error);
}

uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }
int32_t taeda_ext_init(const taeda_api *given)
{
    static const struct {
        const char *schema;
        taeda_kernel cpu, meta;
    } ops[] = {
        {NAMESPACE "::scale(Tensor x, float by=2.0) -> Tensor", scale, scale},
        {NAMESPACE "::window(Tensor(a) x, int start, int length) -> Tensor(a)", window, window},
        {NAMESPACE "::bump(Tensor(a!) x, int by=1) -> Tensor(a!)", bump, bump},
        {NAMESPACE "::composed(Tensor x) -> Tensor", composed, composed},
        {NAMESPACE "::by_name(str name, Tensor x, Tensor y) -> Tensor", by_name, by_name},
        {NAMESPACE
         "::kinds(Tensor a, Tensor? b, Tensor?[] c, bool d, int e, float f, Scalar g, str h, "
         "ScalarType i, Device j, bool[] k, int[] l, float[] m, MemoryFormat? n=None) -> Tensor",
         kinds, 0},
        {NAMESPACE "::values(int a, float b, bool c, Scalar d, str e, int[] f, float[] g, bool[] "
                   "h) -> Tensor",
         values, 0},
        {NAMESPACE "::facts(ScalarType dtype) -> Tensor", facts, 0},
        {NAMESPACE "::fails(int code) -> Tensor", fails, 0},
        {NAMESPACE "::gives_input_back(Tensor x) -> Tensor", gives_input_back, 0},
        {NAMESPACE "::makes_nothing(Tensor x) -> Tensor", makes_nothing, 0},
        {NAMESPACE "::shares(Tensor x) -> Tensor", shares, 0},
        {NAMESPACE "::reserves_in_a_loop(Tensor x) -> Tensor", reserves_in_a_loop, 0},
    };
    api = given;
    int32_t code = 0;
    for (size_t i = 0; !code && i < sizeof ops / sizeof *ops; i++)
        code = define(ops[i].schema, ops[i].cpu, ops[i].meta);
    if (code) return code;
    taeda_error error = {0};
    taeda_derivative first = {sizeof first,
                              0,
                              NAMESPACE "::scale",
                              NAMESPACE "::scale_backward(Tensor grad, float by) -> Tensor",
                              scale,
                              scale,
                              0,
                              0};
    taeda_derivative second = {sizeof second,
                               0,
                               NAMESPACE "::scale_backward",
                               NAMESPACE "::scale_twice(Tensor?[] grads, float by) -> Tensor",
                               scale_twice,
                               scale_twice,
                               0,
                               0};
    code = api->define_derivative(&first, &error);
    return code ? code : api->define_derivative(&second, &error);
}
