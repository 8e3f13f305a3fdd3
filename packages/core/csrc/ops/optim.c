/* optim.c - optimizer steps over all parameters in one call, and one number applied to a list of
 * tensors. */
#include "ops/optim.h"
#include "runtime/device.h"

/* ---- what all steps share ---- */
static td_status check_length(const td_call *call, const char *name, int k, int64_t wanted)
{
    if (TD_LEN(k) == wanted) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR, "%s: list %d has %lld tensors, but there are %lld parameters",
                   name, k, (long long)TD_LEN(k), (long long)wanted);
}

static td_status number_of(const td_tensor *t, const char *name, const char *what, double *out)
{
    if (t->numel != 1)
        return td_fail(TD_RUNTIME_ERROR, "%s: %s must be a tensor of one element, but has %lld",
                       name, what, (long long)t->numel);
    if (td_is_meta(t))
        return td_fail(TD_RUNTIME_ERROR, "%s: %s is on the meta device and has no value", name,
                       what);
    char place[16];
    TD_TRY(td_element(t, place));
    *out = td_scalar_load((td_dtype)t->dtype, place).re;
    return TD_OK;
}

/* The number that lies where the parameters do, on a device with kernels of its own: those read it,
 * and the host does not wait for it. NULL for any other. */
static const void *beside(const td_call *call, const td_tensor *number)
{
    if (TD_LEN(0) == 0 || !call->args[0].tensors[0]) return NULL;
    td_device device = (td_device)call->args[0].tensors[0]->device;
    bool there = device != TD_CPU && td_has_memory(device) && number->device == device;
    return there && number->dtype == TD_F32 && number->numel == 1 ? td_data(number) : NULL;
}

typedef struct scaled {
    double scale;
    bool skip;
    const void *grad_scale, *found_inf; /* these instead, if they are there */
} scaled;

/* grad_scale and found_inf are the last two arguments of every step; a step that saw an infinity is
 * left out. */
static td_status scaling(const td_call *call, const char *name, int at, scaled *s)
{
    double found = 0;
    *s = (scaled){.scale = 1};
    const td_tensor *scale = TD_OPT_TENSOR(at), *infinity = TD_OPT_TENSOR(at + 1);
    if (scale) s->grad_scale = beside(call, scale);
    if (scale && !s->grad_scale) TD_TRY(number_of(scale, name, "grad_scale", &s->scale));
    if (infinity) s->found_inf = beside(call, infinity);
    if (infinity && !s->found_inf) TD_TRY(number_of(infinity, name, "found_inf", &found));
    s->skip = found != 0;
    return TD_OK;
}

/* list: the argument that holds the step counters, one a parameter */
static td_status read_steps(const td_call *call, const char *name, int list, td_flat *f)
{
    for (int64_t i = 0; i < f->count; i++) {
        const td_tensor *t = call->args[list].tensors[i];
        if (!t) return td_fail(TD_TYPE_ERROR, "%s: step counter %lld is None", name, (long long)i);
        if (!f->slices[i].numel) continue;
        f->slices[i].counter = beside(call, t);
        if (f->slices[i].counter) continue;
        TD_TRY(number_of(t, name, "a step counter", &f->slices[i].step));
    }
    return TD_OK;
}

/* Lists are arguments 0 to nlists - 1, a list that is empty where parameters are not counts as
 * absent if it may. */
static td_status begin_lists(td_call *call, td_flat *f, const char *name, int nlists,
                             int optional_list, const scaled *s)
{
    td_tensor **lists[5] = {NULL};
    for (int k = 0; k < nlists; k++) {
        if (k == optional_list && TD_LEN(k) == 0) continue;
        TD_TRY(check_length(call, name, k, TD_LEN(0)));
        lists[k] = call->args[k].tensors;
    }
    TD_TRY(td_flat_begin(f, name, nlists, lists, TD_LEN(0)));
    f->grad_scale = s->grad_scale;
    f->found_inf = s->found_inf;
    return TD_OK;
}

static td_status finish(td_flat *f, td_status status)
{
    td_status ended = td_flat_end(f, status == TD_OK);
    return status == TD_OK ? ended : status;
}

/* ---- the steps ---- */
td_status td_op__fused_sgd_(td_call *call)
{
    static const char *name = "_fused_sgd_";
    td_sgd_params o = {.weight_decay = TD_FLOAT(3),
                       .momentum = TD_FLOAT(4),
                       .lr = TD_FLOAT(5),
                       .dampening = TD_FLOAT(6),
                       .nesterov = TD_BOOLEAN(7),
                       .maximize = TD_BOOLEAN(8),
                       .first = TD_BOOLEAN(9)};
    td_flat f;
    scaled s;
    TD_TRY(scaling(call, name, 10, &s));
    if (s.skip) return TD_OK;
    o.grad_scale = s.scale;
    TD_TRY(begin_lists(call, &f, name, 3, o.momentum == 0 ? 2 : -1, &s));
    return finish(&f, td_flat_work_on(&f, TD_FLAT_SGD, &o));
}

static td_status adam(td_call *call, const char *name, bool decoupled)
{
    td_adam_params o = {.lr = TD_FLOAT(6),
                        .beta1 = TD_FLOAT(7),
                        .beta2 = TD_FLOAT(8),
                        .weight_decay = TD_FLOAT(9),
                        .eps = TD_FLOAT(10),
                        .amsgrad = TD_BOOLEAN(11),
                        .maximize = TD_BOOLEAN(12),
                        .decoupled = decoupled};
    td_flat f;
    scaled s;
    TD_TRY(scaling(call, name, 13, &s));
    TD_TRY(check_length(call, name, 5, TD_LEN(0)));
    if (s.skip) return TD_OK;
    o.grad_scale = s.scale;
    TD_TRY(begin_lists(call, &f, name, 5, o.amsgrad ? -1 : 4, &s));
    td_status status = read_steps(call, name, 5, &f);
    if (status == TD_OK) status = td_flat_work_on(&f, TD_FLAT_ADAM, &o);
    return finish(&f, status);
}

td_status td_op__fused_adam_(td_call *call) { return adam(call, "_fused_adam_", false); }
td_status td_op__fused_adamw_(td_call *call) { return adam(call, "_fused_adamw_", true); }

td_status td_op__fused_adagrad_(td_call *call)
{
    static const char *name = "_fused_adagrad_";
    td_adagrad_params o = {.lr = TD_FLOAT(4),
                           .lr_decay = TD_FLOAT(5),
                           .weight_decay = TD_FLOAT(6),
                           .eps = TD_FLOAT(7),
                           .maximize = TD_BOOLEAN(8)};
    td_flat f;
    scaled s;
    TD_TRY(scaling(call, name, 9, &s));
    TD_TRY(check_length(call, name, 3, TD_LEN(0)));
    if (s.skip) return TD_OK;
    o.grad_scale = s.scale;
    TD_TRY(begin_lists(call, &f, name, 3, -1, &s));
    td_status status = read_steps(call, name, 3, &f);
    if (status == TD_OK) status = td_flat_work_on(&f, TD_FLAT_ADAGRAD, &o);
    return finish(&f, status);
}

/* ---- one number for all ---- */
td_status td_op__flat_number_(td_call *call)
{
    double number = TD_FLOAT(1);
    char operation = call->args[2].str[0];
    td_flat_work work = operation == 'm'   ? TD_FLAT_MULTIPLY
                        : operation == 'd' ? TD_FLAT_DIVIDE
                                           : TD_FLAT_ADD;
    if (operation != 'm' && operation != 'd' && operation != 'a')
        return td_fail(TD_VALUE_ERROR,
                       "_flat_number_: operation must be 'mul', 'div' or 'add', but got '%s'",
                       call->args[2].str);
    td_flat f;
    td_tensor **lists[1] = {call->args[0].tensors};
    TD_TRY(td_flat_begin(&f, "_flat_number_", 1, lists, TD_LEN(0)));
    return finish(&f, td_flat_work_on(&f, work, &number));
}
