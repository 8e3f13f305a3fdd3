/* scale.c - an extension as a user would write it, for the test of the ABI: y = 2 x, and a kernel
 * that refuses. */
#include "taeda/abi.h"

static const taeda_api *api;

typedef struct work {
    const float *x;
    float *y;
} work;
static void body(void *context, int64_t begin, int64_t end)
{
    const work *w = (const work *)context;
    for (int64_t i = begin; i < end; i++) w->y[i] = 2 * w->x[i];
}

static int32_t twice(const taeda_call *call)
{
    taeda_facts in = {sizeof in}, out = {sizeof out};
    taeda_tensor *x;
    int32_t code = api->contiguous(call->inputs[0], &x, call->error);
    if (code) return code;
    api->facts(x, &in);
    if (in.dtype != TAEDA_FLOAT32)
        code = api->fail(call->error, TAEDA_TYPE_ERROR, "wanted float32");
    else code = api->empty(in.dtype, in.ndim, in.sizes, in.on_cpu, &call->outputs[0], call->error);
    if (!code && in.on_cpu) {
        api->facts(call->outputs[0], &out);
        work w = {(const float *)in.data, (float *)out.data};
        api->parallel_for(in.numel, 4096, body, &w);
    }
    api->release(x);
    return code;
}

uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }
int32_t taeda_ext_init(const taeda_api *given)
{
    api = given;
    return api->register_kernel("twice", 1, 1, twice, 0);
}
