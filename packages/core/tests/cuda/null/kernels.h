/* kernels.h - of the stand-in driver (libcuda_null.c): modules, launches, and work of other
 * stand-ins. */
#ifndef NULL_KERNELS_H
#define NULL_KERNELS_H

/* ---- kernels ---- */
ENTRY cuModuleLoadData(void **made, const void *image)
{
    CHECK;
    NOT_CAPTURED(NULL);
    void *library = dlopen(image, RTLD_NOW | RTLD_LOCAL);
    /* machine code of a real device, of an installed package: no image of this one */
    if (!library && !memcmp(image,
                            "\x7f"
                            "ELF",
                            4))
        return BAD_IMAGE;
    if (!library) return fprintf(stderr, "stand-in: %s\n", dlerror()), NOT_FOUND;
    module *m = malloc(sizeof *m);
    m->kernels = dlsym(library, "td_emulated_kernels");
    return *made = m, m->kernels ? OK : NOT_FOUND;
}
ENTRY cuModuleGetFunction(void **function, void *m, const char *name)
{
    CHECK;
    for (const emulated *e = ((module *)m)->kernels; e->name; e++)
        if (!strcmp(e->name, name)) return *function = (void *)e, OK;
    return NOT_FOUND;
}
static long launches;
__attribute__((visibility("default"))) long td_null_launches(void) { return launches; }
ENTRY cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                     unsigned by, unsigned bz, unsigned shared, void *stream_, void **arguments,
                     void **extra)
{
    CHECK;
    const emulated *e = function;
    if (!gx || gy != 1 || gz != 1 || !bx || by != 1 || bz != 1 || bx > 1024) return INVALID;
    if (skip) return __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED), OK;
    work *w = new_work(e->bytes);
    w->kernel = e;
    w->grid = gx;
    w->block = bx;
    memcpy(w->argument, arguments[0], e->bytes);
    __atomic_add_fetch(&launches, 1, __ATOMIC_RELAXED);
    return submit(w, stream_of(stream_));
}

/* ---- for stand-ins of other libraries ---- */
__attribute__((visibility("default"))) int td_null_checked(const char *name)
{
    return checked(name);
}
__attribute__((visibility("default"))) int td_null_current(void) { return current; }
/* Does a range lie within an allocation of the current device? */
__attribute__((visibility("default"))) int td_null_holds(const void *address, size_t bytes)
{
    int i = segment_of((uint64_t)(uintptr_t)address);
    return i >= 0 && segments[i].device == current && holds(address, bytes);
}
/* Work for a stream: `call` with a copy of the argument, device memory open. */
__attribute__((visibility("default"))) int
td_null_submit(void (*call)(void *), const void *argument, size_t bytes, void *stream_)
{
    if (skip) return OK;
    work *w = new_work(bytes);
    w->call = call;
    memcpy(w->argument, argument, bytes);
    return submit(w, stream_of(stream_));
}
#endif
