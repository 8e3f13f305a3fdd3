/* ipc.h - device memory that other processes use.
 *
 *   sender:   storage ── kept, a slot of its ledger says for whom ── parcel ─▶ message
 *   receiver: parcel ─▶ the driver's allocation, opened once ─▶ storage; its end writes into the slot
 *
 * The ledger is a file without a name, which the receiver opens through /proc; so it ends with the
 * sender. A sender gives memory back that was sent once its receiver says so, or has ended. */
#ifndef TD_CUDA_IPC_H
#define TD_CUDA_IPC_H
#include "cuda/device.h"

typedef struct td_cuda_parcel {
    td_cuda_handle memory; /* of the driver's allocation */
    int64_t offset, bytes; /* of the storage in it */
    uint64_t token;        /* of the ledger */
    int32_t pid, file;
    uint32_t slot, turn;
    char uuid[16]; /* of the device */
} td_cuda_parcel;

/* With the interpreter's lock held. */
/* The storage lives until the receiver of this parcel releases it. Waits for the current stream. */
td_status td_cuda_ipc_send(td_storage *s, td_cuda_parcel *out);
/* The storage behind a parcel, which serves once: *out is the caller's. */
td_status td_cuda_ipc_receive(const td_cuda_parcel *parcel, td_storage **out);
/* Drop what receivers have released; how many are with them still. */
int64_t td_cuda_ipc_collect(void);

#endif
