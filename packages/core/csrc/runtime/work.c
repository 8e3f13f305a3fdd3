/* work.c - the families that devices compute, and tensors brought to where they are needed. */
#include "runtime/work.h"
#include "runtime/device.h"
#include "runtime/streams.h"

td_worker td_workers[TD_DEVICE_TYPES][TD_WORKS];

td_status td_work_run(td_work work, const void *job, td_device device, const char *what)
{
    td_worker worker = td_workers[td_device_type(device)][work];
    char text[TD_DEVICE_TEXT];
    if (worker) return worker(job, device);
    return td_fail(TD_NOT_IMPLEMENTED, "%s is not implemented for device '%s'", what,
                   td_device_text(device, text));
}

td_status td_moved_to(td_tensor **out, const td_tensor *t, td_device device)
{
    td_tensor *moved;
    if (t->device == device) return td_tensor_alias(out, t);
    TD_TRY(td_tensor_empty(&moved, (td_dtype)t->dtype, device, t->ndim, t->sizes));
    td_status status = td_copy(moved, t);
    if (status == TD_OK) *out = moved;
    else td_tensor_free(moved);
    return status;
}

td_status td_sent_to(td_tensor **out, const td_tensor *t, td_device device)
{
    td_tensor *moved;
    if (t->device == device) return td_tensor_alias(out, t);
    TD_TRY(td_tensor_empty(&moved, (td_dtype)t->dtype, device, t->ndim, t->sizes));
    td_status status =
        td_table_of(device)->transfer(td_data(moved), device, td_data(t), (td_device)t->device,
                                      t->numel * td_itemsize((td_dtype)t->dtype), false);
    if (status == TD_OK) *out = moved;
    else td_tensor_free(moved);
    return status;
}

/* From memory that stays and that the device reads on its own, which the graph hears of. */
static td_status sent_by_graph(td_tensor **out, const td_tensor *t, td_device device)
{
    td_tensor *kept;
    TD_TRY(td_tensor_empty(&kept, (td_dtype)t->dtype, TD_CPU, t->ndim, t->sizes));
    td_status status = td_copy(kept, t);
    if (status == TD_OK) status = td_device_pin(td_device_type(device), kept);
    if (status == TD_OK) status = td_sent_to(out, kept, device);
    /* another thread's capture may have ended meanwhile */
    void (*tell)(int, struct td_storage *) = td_recorded;
    if (status == TD_OK && tell) tell(td_device_index(device), kept->storage);
    td_tensor_free(kept);
    return status;
}

td_status td_sent_constant(td_tensor **out, const td_tensor *t, td_device device)
{
    if (td_recorded && t->device != device && td_device_pins(td_device_type(device)))
        return sent_by_graph(out, t, device);
    return td_sent_to(out, t, device);
}
