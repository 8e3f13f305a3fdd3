/* devices.c - device numbers of the interface, and the streams of CUDA devices. */
#include "abi/abi.h"
#include "runtime/device.h"

int32_t td_abi_device_from(const char *slot, int32_t number, td_device *out, taeda_error *error)
{
    int type = TAEDA_DEVICE_TYPE(number), index = TAEDA_DEVICE_INDEX(number);
    if (type > TAEDA_CUDA || index < 0 || (index && type != TAEDA_CUDA))
        return td_abi_error(error, TAEDA_RUNTIME_ERROR, "%s: there is no device number %d", slot,
                            number);
    if (type == TAEDA_CUDA) {
        td_status status = td_device_open(TD_CUDA);
        if (status) return td_abi_status(status, error);
        if (index >= td_device_count(TD_CUDA))
            return td_abi_error(
                error, TAEDA_RUNTIME_ERROR,
                "%s: there are %d devices of type 'cuda', with ordinals from 0; got 'cuda:%d'",
                slot, td_device_count(TD_CUDA), index);
    }
    *out = td_device_of(type, index);
    return 0;
}

int32_t td_abi_device_available(int32_t number)
{
    int type = TAEDA_DEVICE_TYPE(number), index = TAEDA_DEVICE_INDEX(number);
    if (type == TAEDA_CUDA) return index >= 0 && index < td_device_count(TD_CUDA);
    return number == TAEDA_CPU || number == TAEDA_META;
}

int32_t td_abi_current_stream(int32_t number, void **out, taeda_error *error)
{
    td_device device = TD_CPU;
    int32_t code = td_abi_device_from("current_stream", number, &device, error);
    if (code) return code;
    if (td_device_type(device) != TD_CUDA)
        return td_abi_error(error, TAEDA_RUNTIME_ERROR,
                            "current_stream: a CUDA device has streams, device number %d does not",
                            number);
    td_status status = td_device_use(device);
    if (!status) *out = td_device_stream(device);
    return td_abi_status(status, error);
}

int32_t td_abi_record_stream(const taeda_tensor *tensor, void *stream, taeda_error *error)
{
    const td_tensor *t = td_inner(tensor);
    if (td_device_type((td_device)t->device) != TD_CUDA)
        return td_abi_fail(error, TAEDA_RUNTIME_ERROR,
                           "record_stream: the tensor is on no CUDA device");
    return td_abi_status(td_device_used(t, stream), error);
}
