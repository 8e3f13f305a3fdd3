/* quantization_bags.c - embeddings whose tables are integers with a scale and a shift for each row.
 */
#include "cpu/quantization/bags_run.h"
#include "runtime/op.h"

enum { TABLE, SCALES, SHIFTS, INDICES, STARTS, WEIGHTS, GIVEN };

static const char OP[] = "_int8_bags";

static td_status vector(const td_tensor *t, const char *name, td_dtype dtype, int64_t n,
                        td_tensor **dense)
{
    char text[TD_SHAPE_TEXT];
    if (t->dtype != dtype || t->ndim != 1 || (n >= 0 && t->sizes[0] != n))
        return td_fail(TD_RUNTIME_ERROR, "%s: %s must be a vector of %s%s, but got %s of shape %s",
                       OP, name, td_dtypes[dtype].name, n >= 0 ? " that fits the others" : "",
                       td_dtypes[t->dtype].name, td_shape_text(t->ndim, t->sizes, text));
    return td_contiguous(dense, t);
}

static td_status take(const td_call *call, td_tensor *t[GIVEN])
{
    const td_tensor *table = TD_TENSOR(TABLE), *starts = TD_OPT_TENSOR(STARTS),
                    *weights = TD_OPT_TENSOR(WEIGHTS);
    char text[TD_SHAPE_TEXT];
    if (table->dtype != TD_U8 || table->ndim != 2)
        return td_fail(
            TD_RUNTIME_ERROR, "%s: wanted a table (rows, columns) of uint8, but got %s of shape %s",
            OP, td_dtypes[table->dtype].name, td_shape_text(table->ndim, table->sizes, text));
    TD_TRY(td_contiguous(&t[TABLE], table));
    TD_TRY(vector(TD_TENSOR(SCALES), "scales", TD_F32, table->sizes[0], &t[SCALES]));
    TD_TRY(vector(TD_TENSOR(SHIFTS), "shifts", TD_F32, table->sizes[0], &t[SHIFTS]));
    TD_TRY(vector(TD_TENSOR(INDICES), "indices", TD_I64, -1, &t[INDICES]));
    if (starts) TD_TRY(vector(starts, "offsets", TD_I64, -1, &t[STARTS]));
    if (starts && starts->sizes[0] == 0)
        return td_fail(TD_RUNTIME_ERROR, "%s: offsets end with the number of indices", OP);
    if (!weights) return TD_OK;
    return vector(weights, "per_sample_weights", TD_F32, t[INDICES]->sizes[0], &t[WEIGHTS]);
}

static td_status sum(td_tensor *t[GIVEN], td_tensor *out)
{
    td_bags b = {.table = td_data(t[TABLE]),
                 .rows = t[TABLE]->sizes[0],
                 .columns = t[TABLE]->sizes[1],
                 .scales = td_data(t[SCALES]),
                 .shifts = td_data(t[SHIFTS]),
                 .indices = td_data(t[INDICES]),
                 .starts = t[STARTS] ? td_data(t[STARTS]) : NULL,
                 .count = t[INDICES]->sizes[0],
                 .bags = out->sizes[0],
                 .weights = t[WEIGHTS] ? td_data(t[WEIGHTS]) : NULL,
                 .out = td_data(out)};
    int64_t wrong = td_bags_sum(&b);
    if (wrong == TD_BAGS_DONE) return TD_OK;
    return td_fail(TD_RUNTIME_ERROR,
                   "%s: at place %lld an index is out of range for %lld rows, or an offset does "
                   "not rise from 0 to %lld",
                   OP, (long long)wrong, (long long)b.rows, (long long)b.count);
}

/* _int8_bags(table, scales, shifts, indices, offsets, per_sample_weights) */
td_status td_op__int8_bags(td_call *call)
{
    td_tensor *t[GIVEN] = {NULL}, **out = &call->out[0];
    td_status status = take(call, t);
    if (status == TD_OK) {
        int64_t sizes[] = {t[STARTS] ? t[STARTS]->sizes[0] - 1 : t[INDICES]->sizes[0],
                           t[TABLE]->sizes[1]};
        status = td_tensor_empty(out, TD_F32, (td_device)t[TABLE]->device, 2, sizes);
    }
    if (status == TD_OK && !td_is_meta(t[TABLE]) && (*out)->numel > 0) status = sum(t, *out);
    for (int i = 0; i < GIVEN; i++) td_tensor_free(t[i]);
    return status;
}
