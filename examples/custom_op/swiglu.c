/* swiglu.c - the operator in C against taeda/abi.h alone: no Python, no C++, nothing to link with.
 *
 *     swiglu(gate, up) = gate * sigmoid(gate) * up          one pass forward, one pass for both gradients
 *
 * Every function asks for row-major copies, checks dtypes and shapes, makes its results, and on
 * meta stops there. */
#include <math.h>
#include <string.h>

#include <taeda/abi.h>

enum { GRAIN = 4096, MOST = 3 };
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define SPACE TEXT(TAEDA_EXTENSION_NAME)

static const taeda_api *api;

/* ---- loops: one for each element type ---- */
typedef struct work {
    const void *in[MOST];
    void *out[2];
} work; /* grad, gate, up */

#define LOOPS(real, exponential, suffix)                                     \
    static void forward_##suffix(void *context, int64_t begin, int64_t end)  \
    {                                                                        \
        const work *w = context;                                             \
        const real *gate = w->in[0], *up = w->in[1];                         \
        real *out = w->out[0];                                               \
        for (int64_t i = begin; i < end; i++)                                \
            out[i] = gate[i] / (1 + exponential(-gate[i])) * up[i];          \
    }                                                                        \
    static void backward_##suffix(void *context, int64_t begin, int64_t end) \
    {                                                                        \
        const work *w = context;                                             \
        const real *grad = w->in[0], *gate = w->in[1], *up = w->in[2];       \
        real *to_gate = w->out[0], *to_up = w->out[1];                       \
        for (int64_t i = begin; i < end; i++) {                              \
            real s = 1 / (1 + exponential(-gate[i]));                        \
            to_gate[i] = grad[i] * up[i] * s * (1 + gate[i] * (1 - s));      \
            to_up[i] = grad[i] * gate[i] * s;                                \
        }                                                                    \
    }
LOOPS(float, expf, f32)
LOOPS(double, exp, f64)

/* ---- kernels ---- */
static taeda_facts facts_of(const taeda_tensor *tensor)
{
    taeda_facts facts = {.size = sizeof facts};
    api->facts(tensor, &facts); /* fails only for a wrong size */
    return facts;
}

static int32_t check(const taeda_call *call)
{
    taeda_facts first = facts_of(call->inputs[0]);
    for (int32_t k = 0; k < call->input_count; k++) {
        taeda_facts one = facts_of(call->inputs[k]);
        if (one.dtype != TAEDA_FLOAT32 && one.dtype != TAEDA_FLOAT64)
            return api->fail(call->error, TAEDA_TYPE_ERROR, "wanted float32 or float64 tensors");
        if (one.dtype != first.dtype)
            return api->fail(call->error, TAEDA_TYPE_ERROR, "the tensors differ in dtype");
        if (one.ndim != first.ndim ||
            memcmp(one.sizes, first.sizes, sizeof(int64_t) * (size_t)first.ndim))
            return api->fail(call->error, TAEDA_VALUE_ERROR, "the tensors differ in shape");
    }
    return 0;
}

static int32_t make_outputs(const taeda_call *call)
{
    taeda_facts like = facts_of(call->inputs[0]);
    int32_t code = check(call);
    for (int32_t k = 0; !code && k < call->output_count; k++)
        code = api->empty(like.dtype, like.ndim, like.sizes, like.on_cpu, &call->outputs[k],
                          call->error);
    return code; /* after a failure the core releases what was made */
}

static int32_t run(const taeda_call *call, taeda_range f32, taeda_range f64)
{
    taeda_tensor *row_major[MOST] = {0};
    work w;
    int32_t code = make_outputs(call);
    for (int32_t k = 0; !code && k < call->input_count; k++) {
        code = api->contiguous(call->inputs[k], &row_major[k], call->error);
        if (!code) w.in[k] = facts_of(row_major[k]).data;
    }
    for (int32_t k = 0; !code && k < call->output_count; k++)
        w.out[k] = facts_of(call->outputs[k]).data;
    if (!code) {
        taeda_facts like = facts_of(call->outputs[0]);
        api->parallel_for(like.numel, GRAIN, like.dtype == TAEDA_FLOAT32 ? f32 : f64, &w);
    }
    for (int32_t k = 0; k < MOST; k++) api->release(row_major[k]);
    return code;
}

static int32_t forward(const taeda_call *call) { return run(call, forward_f32, forward_f64); }
static int32_t backward(const taeda_call *call) { return run(call, backward_f32, backward_f64); }

/* ---- what the core looks for ---- */
uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }

int32_t taeda_ext_init(const taeda_api *given)
{
    taeda_op_def op = {.size = sizeof op,
                       .schema = SPACE "::swiglu(Tensor gate, Tensor up) -> Tensor",
                       .cpu = forward,
                       .meta = make_outputs,
                       .doc = "gate * sigmoid(gate) * up, elementwise."};
    taeda_derivative derivative = {
        .size = sizeof derivative,
        .op = SPACE "::swiglu",
        .backward =
            SPACE "::swiglu_backward(Tensor grad, Tensor gate, Tensor up) -> (Tensor, Tensor)",
        .cpu = backward,
        .meta = make_outputs};
    taeda_error error;
    api = given;
    int32_t code = api->define_op(&op, &error);
    return code ? code : api->define_derivative(&derivative, &error);
}
