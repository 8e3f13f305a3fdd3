/* devices.h - of the stand-in driver (libcuda_null.c): start, devices and their contexts. */
#ifndef NULL_DEVICES_H
#define NULL_DEVICES_H

/* ---- start and devices ---- */
static void uuid_of(int physical, char text[48])
{
    snprintf(text, 48, "GPU-7ae0a000-0000-0000-0000-0000000000%02x", physical);
}

/* one entry of CUDA_VISIBLE_DEVICES: the physical device, or -1 */
static int entry(const char *at, size_t length, int n)
{
    char uuid[48];
    if (length && strspn(at, "0123456789") == length) return atoi(at) < n ? atoi(at) : -1;
    for (int i = 0; i < n; i++) {
        uuid_of(i, uuid);
        if (length >= 4 && !strncmp(at, uuid, length)) return i;
        memcpy(uuid, "MIG", 3);
        if (length == strlen(uuid) && !strncmp(at, uuid, length)) return i;
    }
    return -1;
}

/* Up to the first entry that there is not; a device named twice hides all. */
static int choose(const char *at, int n)
{
    int seen = 0;
    while (*at && seen < DEVICES) {
        size_t length = strcspn(at, ",");
        int found = entry(at, length, n);
        if (found < 0) break;
        for (int i = 0; i < seen; i++)
            if (devices[i].physical == found) return 0;
        devices[seen++].physical = found;
        at += length;
        at += *at == ',';
    }
    return seen;
}

ENTRY cuInit(unsigned flags)
{
    const char *count = getenv("TAEDA_NULL_DEVICES"), *mib = getenv("TAEDA_NULL_MIB"),
               *open = getenv("TAEDA_NULL_PROTECT");
    const char *fail = getenv("TAEDA_NULL_FAIL"), *visible = getenv("CUDA_VISIBLE_DEVICES"),
               *wait = getenv("TAEDA_NULL_LATE");
    const char *peer = getenv("TAEDA_NULL_PEERS"), *host = getenv("TAEDA_NULL_HOST_MIB");
    if (started) return OK;
    ndevices = count ? atoi(count) : 2;
    if (ndevices > DEVICES) ndevices = DEVICES;
    for (int i = 0; i < DEVICES; i++) devices[i].physical = i;
    if (visible) ndevices = choose(visible, ndevices);
    for (int i = 0; i < DEVICES; i++) {
        devices[i].size = (size_t)(mib ? atol(mib) : 4096) << 20;
        devices[i].null = (stream){.last = &devices[i].null.first, .device = i};
    }
    host_size = (size_t)(host ? atol(host) : 4096) << 20;
    peers = !peer || *peer != '0';
    protect = !open || *open != '0';
    late = wait && *wait == '1';
    const char *shares = getenv("TAEDA_NULL_IPC");
    ipc = !shares || *shares != '0';
    const char *skips = getenv("TAEDA_NULL_SKIP");
    skip = skips && *skips == '1';
    if (fail) sscanf(fail, "%63[^:]:%ld:%ld", fail_name, &fail_at, &fail_code);
    if (!ndevices) return NO_DEVICE;
    started = 1;
    return checked(__func__);
}
ENTRY cuDriverGetVersion(int *version)
{
    const char *told = getenv("TAEDA_NULL_VERSION");
    return *version = told ? atoi(told) : 13000, OK;
}
ENTRY cuDeviceGetCount(int *n) { return *n = ndevices, started ? OK : NOT_STARTED; }
ENTRY cuDeviceGet(int *device, int ordinal)
{
    return *device = ordinal, ordinal >= 0 && ordinal < ndevices ? OK : BAD_DEVICE;
}
ENTRY cuDeviceGetName(char *name, int n, int device)
{
    CHECK;
    return snprintf(name, (size_t)n, "taeda stand-in"), OK;
}
ENTRY cuDeviceGetUuid_v2(char uuid[16], int device)
{
    CHECK;
    const char start[4] = {0x7a, (char)0xe0, (char)0xa0, 0x00};
    memset(uuid, 0, 16);
    memcpy(uuid, start, 4);
    uuid[15] = (char)devices[device].physical;
    return OK;
}
ENTRY cuDeviceGetPCIBusId(char *text, int n, int device)
{
    return snprintf(text, (size_t)n, "0000:%02X:00.0", 0x10 + devices[device].physical), OK;
}
ENTRY cuDeviceCanAccessPeer(int *can, int a, int b)
{
    CHECK;
    return *can = peers && a != b, OK;
}
ENTRY cuCtxEnablePeerAccess(void *context, unsigned flags)
{
    CHECK;
    int other = (int)(intptr_t)context - 1;
    if (current < 0) return BAD_CONTEXT;
    if (!peers || other == current) return 217;
    if (devices[current].peers >> other & 1) return 704;
    devices[current].peers |= 1 << other;
    return OK;
}
ENTRY cuDeviceTotalMem_v2(size_t *n, int device) { return *n = devices[device].size, OK; }
ENTRY cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75   ? 9
             : attribute == 76 ? 0
             : attribute == 16 ? 4
             : attribute == 1  ? 1024
             : attribute == 10 ? 32
             : attribute == 39 ? 2048
                               : 0;
    return OK;
}
ENTRY cuDevicePrimaryCtxRetain(void **context, int device)
{
    CHECK;
    return *context = (void *)(intptr_t)(device + 1), OK;
}
ENTRY cuCtxSetCurrent(void *context)
{
    CHECK;
    current = (int)(intptr_t)context - 1;
    return OK;
}
ENTRY cuCtxGetCurrent(void **context)
{
    if (!started) return NOT_STARTED;
    return *context = (void *)(intptr_t)(current + 1), OK;
}
#endif
