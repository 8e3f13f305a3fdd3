/* inplace.c - transpose_, squeeze_ and relatives: a tensor takes the shape of one of its views. */
#include "ops/view/view.h"

#define SELF TD_TENSOR(0)

/* The dispatcher gives self this handle. */
static td_status become(td_call *call, td_tensor *view)
{
    view->flags = SELF->flags;
    call->out[0] = view;
    return TD_OK;
}

#define IN_PLACE(name, view_of_self)      \
    td_status td_op_##name(td_call *call) \
    {                                     \
        td_tensor *view;                  \
        TD_TRY(view_of_self);             \
        return become(call, view);        \
    }
IN_PLACE(transpose_, td_view_transpose(&view, SELF, TD_INT(1), TD_INT(2)))
IN_PLACE(unsqueeze_, td_view_unsqueeze(&view, SELF, TD_INT(1)))
IN_PLACE(squeeze_, td_view_squeeze_all(&view, SELF))
IN_PLACE(squeeze_dim_, td_view_squeeze(&view, SELF, 1, &TD_INT(1)))
IN_PLACE(squeeze_dims_, td_view_squeeze(&view, SELF, TD_LEN(1), TD_INTS(1)))

td_status td_op_t_(td_call *call)
{
    td_tensor *view;
    if (SELF->ndim > 2)
        return td_fail(TD_RUNTIME_ERROR, "t_() expects a tensor with <= 2 dimensions, got %d",
                       SELF->ndim);
    TD_TRY(SELF->ndim < 2 ? td_tensor_alias(&view, SELF) : td_view_transpose(&view, SELF, 0, 1));
    return become(call, view);
}

td_status td_op_as_strided_(td_call *call)
{
    td_tensor *view;
    char sizes[TD_SHAPE_TEXT], strides[TD_SHAPE_TEXT];
    if (TD_LEN(1) != TD_LEN(2))
        return td_fail(TD_RUNTIME_ERROR, "as_strided_: mismatch in length of size %s and stride %s",
                       td_shape_text((int)TD_LEN(1), TD_INTS(1), sizes),
                       td_shape_text((int)TD_LEN(2), TD_INTS(2), strides));
    TD_TRY(td_view_strided(&view, SELF, TD_LEN(1), TD_INTS(1), TD_INTS(2),
                           TD_HAS(3) ? TD_INT(3) : SELF->offset));
    return become(call, view);
}
