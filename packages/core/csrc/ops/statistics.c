/* statistics.c - _histogramdd: points counted in the cells of a grid. */
#include "cpu/statistics_run.h"
#include "runtime/op.h"

#define POINTS TD_TENSOR(0)
#define WEIGHT TD_OPT_TENSOR(2)

static td_status check_edges(const td_call *call)
{
    char shape[TD_SHAPE_TEXT];
    for (int64_t d = 0; d < TD_LEN(1); d++) {
        const td_tensor *e = call->args[1].tensors[d];
        if (e->ndim == 1 && e->numel >= 2 && e->dtype == POINTS->dtype) continue;
        return td_fail(
            TD_RUNTIME_ERROR,
            "_histogramdd: wanted edges of one dimension, at least 2 of %s, got %s of %s",
            td_dtypes[POINTS->dtype].name, td_shape_text(e->ndim, e->sizes, shape),
            td_dtypes[e->dtype].name);
    }
    return TD_OK;
}

static td_status check(const td_call *call)
{
    char shape[TD_SHAPE_TEXT];
    const td_tensor *w = WEIGHT;
    if (!td_is_floating((td_dtype)POINTS->dtype) || td_is_float8((td_dtype)POINTS->dtype))
        return td_fail(TD_NOT_IMPLEMENTED, "_histogramdd is not implemented for '%s'",
                       td_dtypes[POINTS->dtype].type_name);
    if (POINTS->ndim != 2 || POINTS->sizes[1] != TD_LEN(1) || TD_LEN(1) > TD_MAX_DIMS)
        return td_fail(TD_RUNTIME_ERROR,
                       "_histogramdd: wanted points (n, dimensions) with edges for each of at most "
                       "%d dimensions, got points %s and edges for %lld",
                       TD_MAX_DIMS, td_shape_text(POINTS->ndim, POINTS->sizes, shape),
                       (long long)TD_LEN(1));
    if (w && (w->ndim != 1 || w->numel != POINTS->sizes[0]))
        return td_fail(TD_RUNTIME_ERROR, "_histogramdd: wanted %lld weights, got the shape %s",
                       (long long)POINTS->sizes[0], td_shape_text(w->ndim, w->sizes, shape));
    return check_edges(call);
}

/* Everything dense, in the type that is computed in. */
typedef struct dense {
    td_tensor *points, *weight, *cells, *sums;
    td_tensor *edges[TD_MAX_DIMS];
} dense;

static td_status count(td_call *call, dense *of, const int64_t *sizes)
{
    td_dtype compute = POINTS->dtype == TD_F64 ? TD_F64 : TD_F32;
    td_grid_counts grid = {.dims = (int)TD_LEN(1)};
    td_scalar zero = td_scalar_int(0);
    TD_TRY(td_cast_optional(&of->points, POINTS, compute));
    TD_TRY(td_cast_optional(&of->weight, WEIGHT, compute));
    for (int d = 0; d < grid.dims; d++) {
        TD_TRY(td_cast_optional(&of->edges[d], call->args[1].tensors[d], compute));
        grid.edges[d] = td_data(of->edges[d]);
        grid.counts[d] = of->edges[d]->numel;
    }
    TD_TRY(td_tensor_empty(&of->cells, TD_I64, TD_CPU, 1, &POINTS->sizes[0]));
    TD_TRY(td_tensor_empty(&of->sums, TD_F64, TD_CPU, grid.dims, sizes));
    TD_TRY(td_fill(of->sums, &zero));
    td_grid_cells(of->cells, of->points, &grid);
    td_grid_add(of->sums, of->cells, of->weight);
    return td_cast(&call->out[0], of->sums, (td_dtype)POINTS->dtype);
}

/* (self, edges, weight) */
td_status td_op__histogramdd(td_call *call)
{
    int64_t sizes[TD_MAX_DIMS];
    TD_TRY(check(call));
    for (int64_t d = 0; d < TD_LEN(1); d++) sizes[d] = call->args[1].tensors[d]->numel - 1;
    if (td_is_meta(POINTS))
        return td_tensor_empty(&call->out[0], (td_dtype)POINTS->dtype, TD_META, (int)TD_LEN(1),
                               sizes);
    dense of = {.points = NULL};
    td_status status = count(call, &of, sizes);
    td_tensor_free(of.points);
    td_tensor_free(of.weight);
    td_tensor_free(of.cells);
    td_tensor_free(of.sums);
    for (int d = 0; d < TD_MAX_DIMS; d++) td_tensor_free(of.edges[d]);
    return status;
}
