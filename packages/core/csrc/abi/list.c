/* list.c - results of an extension's kernel that are a list of tensors, as many as the call finds.
 */
#include "abi/abi.h"
#include "dispatch/marks.h"

int32_t td_abi_list_outputs(const taeda_call *given, int64_t count, taeda_tensor ***out)
{
    td_call *call = given->core;
    const char *fault = !call        ? "list_outputs: the schema's result is no Tensor[]"
                        : call->outs ? "list_outputs: called twice in one call of a kernel"
                        : count < 0  ? "list_outputs: a list of fewer than 0 tensors"
                                     : NULL;
    if (fault) return td_abi_fail(given->error, TAEDA_VALUE_ERROR, fault);
    int32_t code = td_abi_status(td_outs(call, count), given->error);
    if (!code) *out = (taeda_tensor **)call->outs;
    return code;
}

/* every tensor among the arguments */
static size_t mark_inputs(const td_call *call, td_mark *marks)
{
    size_t n = 0;
    for (int k = 0; k < call->nargs; k++) {
        const td_arg *a = &call->args[k];
        int64_t count = a->kind == TD_ARG_TENSORS ? a->n : a->kind == TD_ARG_TENSOR;
        for (int64_t i = 0; i < count; i++, n++)
            if (marks)
                marks[n] = (td_mark){a->kind == TD_ARG_TENSORS ? a->tensors[i] : a->tensor, -1};
    }
    return n;
}

/* Takes entries out that are not the kernel's to give, or stand there twice. NULL, or what was
 * wrong. */
static const char *disown(td_call *call)
{
    size_t inputs = mark_inputs(call, NULL), n = inputs;
    td_mark *marks = malloc((inputs + (size_t)call->nout + 1) * sizeof *marks);
    if (!marks) { /* nothing is known of them: they leak, and nobody frees one twice */
        memset(call->outs, 0, sizeof *call->outs * (size_t)call->nout);
        return "no memory to look at the results";
    }
    mark_inputs(call, marks);
    for (int k = 0; k < call->nout; k++) marks[n++] = (td_mark){call->outs[k], k};
    const char *fault = NULL;
    td_marks_sort(marks, n);
    for (size_t i = 1; i < n; i++) {
        if (!marks[i].at || marks[i].at != marks[i - 1].at || marks[i].index < 0) continue;
        bool input = marks[i - 1].index < 0;
        fault = input ? "the kernel gave an input back as an output: make another handle with "
                        "view, or a copy"
                      : "the kernel gave one tensor as two outputs: make another handle with view, "
                        "or a copy";
        call->outs[marks[i].index] = NULL;
        marks[i].index = marks[i - 1].index; /* of a run the first counts */
    }
    free(marks);
    return fault;
}

td_status td_abi_take_list(td_call *call, const td_schema *s, int32_t code, td_abi_outputs *made,
                           taeda_error *error)
{
    int n = call->nout;
    bool may_miss = s->custom->may_omit || s->custom->results[0].flags & TD_P_ELEMENT_OPTIONAL;
    call->nout = 0; /* none of `made` is wanted */
    const char *fault = td_abi_disown(call, made) ? "the kernel filled `outputs`, and its result "
                                                    "is a Tensor[]: fill what list_outputs gives"
                                                  : NULL;
    call->nout = n;
    const char *listed = call->outs ? disown(call) : NULL;
    if (!fault) fault = listed;
    if (!fault && !code && !call->outs)
        fault = "the kernel succeeded but made no list: ask list_outputs for room, for an empty "
                "one too";
    for (int k = 0; k < n && !fault && !code && !may_miss; k++)
        if (!call->outs[k]) fault = "the kernel succeeded but left a tensor of its list out";
    if (fault && !code) code = td_abi_fail(error, TAEDA_RUNTIME_ERROR, fault);
    return code ? td_abi_code(code, s->op.name, error) : TD_OK;
}
