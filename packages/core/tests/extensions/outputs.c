/* outputs.c - kernels that leave their outputs in every wrong way: none may be freed twice, nor an
 * input at all. */
#include "taeda/abi.h"

static const taeda_api *api;

static int32_t one(const taeda_call *call, int k)
{
    int64_t size = 4;
    return api->empty(TAEDA_FLOAT32, 1, &size, 1, &call->outputs[k], call->error);
}
static int32_t good(const taeda_call *call)
{
    int32_t code = one(call, 0);
    return code ? code : one(call, 1);
}
static int32_t twice(const taeda_call *call)
{
    int32_t code = one(call, 0);
    call->outputs[1] = call->outputs[0];
    return code;
}
static int32_t input(const taeda_call *call)
{
    call->outputs[1] = (taeda_tensor *)call->inputs[0];
    return one(call, 0);
}
static int32_t none(const taeda_call *call) { return one(call, 0); }
/* as many as it likes, whatever the call wants */
static int32_t many(const taeda_call *call, int n)
{
    int32_t code = 0;
    for (int k = 0; k < n && !code; k++) code = one(call, k);
    return code;
}
static int32_t three(const taeda_call *call) { return many(call, 3); }
static int32_t seven(const taeda_call *call) { return many(call, 7); }
static int32_t sixteen(const taeda_call *call) { return many(call, 16); }
static int32_t forty(const taeda_call *call) { return many(call, 40); }
static int32_t
skips(const taeda_call *call) /* one that is wanted, one that is not twice, an input */
{
    int32_t code = many(call, 2);
    if (!code) code = one(call, 5);
    call->outputs[9] = call->outputs[5];
    call->outputs[11] = (taeda_tensor *)call->inputs[0];
    return code;
}
static int32_t failed(const taeda_call *call, int32_t code)
{
    return code ? code : api->fail(call->error, TAEDA_VALUE_ERROR, "failed");
}
static int32_t fails(const taeda_call *call) { return failed(call, good(call)); }
static int32_t fails_twice(const taeda_call *call) { return failed(call, twice(call)); }
static int32_t fails_input(const taeda_call *call) { return failed(call, input(call)); }
static int32_t fails_many(const taeda_call *call) { return failed(call, seven(call)); }

/* ---- of an operator whose result is a list ---- */
static int32_t list(const taeda_call *call, int n, taeda_tensor ***out)
{
    int64_t size = 4;
    int32_t code = api->list_outputs(call, n, out);
    for (int k = 0; k < n && !code; k++)
        code = api->empty(TAEDA_FLOAT32, 1, &size, 1, &(*out)[k], call->error);
    return code;
}
static int32_t listed(const taeda_call *call)
{
    taeda_tensor **out;
    return list(call, (int)call->args[1].as.integer, &out);
}
static int32_t listed_twice(const taeda_call *call)
{
    taeda_tensor **out;
    int32_t code = list(call, 40, &out);
    if (code) return code;
    api->release(out[30]);
    out[30] = out[2];
    return 0;
}
static int32_t listed_input(const taeda_call *call)
{
    taeda_tensor **out;
    int32_t code = list(call, 3, &out);
    if (code) return code;
    api->release(out[0]), api->release(out[2]);
    out[0] = out[2] = (taeda_tensor *)call->inputs[0];
    return 0;
}
static int32_t listed_gap(const taeda_call *call)
{
    taeda_tensor **out;
    int32_t code = list(call, 3, &out);
    if (code) return code;
    api->release(out[1]);
    out[1] = NULL;
    return 0;
}
static int32_t listed_again(const taeda_call *call)
{
    taeda_tensor **out;
    int32_t code = list(call, 3, &out);
    return code ? code : list(call, 2, &out);
}
static int32_t listed_aside(const taeda_call *call)
{
    taeda_tensor **out;
    int32_t code = list(call, 3, &out);
    return code ? code : one(call, 0);
}
static int32_t listed_not(const taeda_call *call)
{
    (void)call;
    return 0;
}
static int32_t listed_less(const taeda_call *call)
{
    taeda_tensor **out;
    return api->list_outputs(call, -1, &out);
}
static int32_t listed_fails(const taeda_call *call) { return failed(call, listed_twice(call)); }
static int32_t not_listed(const taeda_call *call)
{
    taeda_tensor **out;
    return list(call, 2, &out);
}
static const struct {
    const char *schema;
    taeda_kernel call;
} lists[] = {
    {"outputs::listed(Tensor x, int n) -> Tensor[]", listed},
    {"outputs::listed_twice(Tensor x) -> Tensor[]", listed_twice},
    {"outputs::listed_input(Tensor x) -> Tensor[]", listed_input},
    {"outputs::listed_gap(Tensor x) -> Tensor[]", listed_gap},
    {"outputs::listed_maybe(Tensor x) -> Tensor?[]", listed_gap},
    {"outputs::listed_again(Tensor x) -> Tensor[]", listed_again},
    {"outputs::listed_aside(Tensor x) -> Tensor[]", listed_aside},
    {"outputs::listed_not(Tensor x) -> Tensor[]", listed_not},
    {"outputs::listed_less(Tensor x) -> Tensor[]", listed_less},
    {"outputs::listed_fails(Tensor x) -> Tensor[]", listed_fails},
    {"outputs::not_listed(Tensor x) -> (Tensor, Tensor)", not_listed},
};

static const struct {
    const char *name, *schema;
    taeda_kernel call;
} kernels[] = {
    {"good", "outputs::good(Tensor x) -> (Tensor, Tensor)", good},
    {"twice", "outputs::twice(Tensor x) -> (Tensor, Tensor)", twice},
    {"input", "outputs::input(Tensor x) -> (Tensor, Tensor)", input},
    {"none", "outputs::none(Tensor x) -> (Tensor, Tensor)", none},
    {"three", "outputs::three(Tensor x) -> (Tensor, Tensor)", three},
    {"seven", "outputs::seven(Tensor x) -> (Tensor, Tensor)", seven},
    {"sixteen", "outputs::sixteen(Tensor x) -> (Tensor, Tensor)", sixteen},
    {"forty", "outputs::forty(Tensor x) -> (Tensor, Tensor)", forty},
    {"skips", "outputs::skips(Tensor x) -> (Tensor, Tensor)", skips},
    {"fails_many", "outputs::fails_many(Tensor x) -> (Tensor, Tensor)", fails_many},
    {"fails", "outputs::fails(Tensor x) -> (Tensor, Tensor)", fails},
    {"fails_twice", "outputs::fails_twice(Tensor x) -> (Tensor, Tensor)", fails_twice},
    {"fails_input", "outputs::fails_input(Tensor x) -> (Tensor, Tensor)", fails_input},
};

uint32_t taeda_ext_abi(void) { return TAEDA_ABI; }
int32_t taeda_ext_init(const taeda_api *table)
{
    taeda_error error = {0};
    api = table;
    for (unsigned i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        taeda_op_def def = {
            .size = sizeof def, .schema = kernels[i].schema, .cpu = kernels[i].call, .doc = ""};
        int32_t code = api->register_kernel(kernels[i].name, 1, 2, kernels[i].call, 0);
        if (!code) code = api->define_op(&def, &error);
        if (code) return code;
    }
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        taeda_op_def def = {
            .size = sizeof def, .schema = lists[i].schema, .cpu = lists[i].call, .doc = ""};
        int32_t code = api->define_op(&def, &error);
        if (code) return code;
    }
    return 0;
}
