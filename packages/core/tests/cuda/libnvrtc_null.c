/* libnvrtc_null.c - a stand-in for NVRTC: programs become shared libraries of emulated kernels.
 * TAEDA_LIBNVRTC names it.
 *
 * The text and its headers are written into a folder below TAEDA_NULL_FOLDER, and the command
 * TAEDA_NULL_COMPILE is given that folder; it leaves the path of the library in `image` there. The
 * "cubin" is that path; a lowered name is the name itself. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY __attribute__((visibility("default"))) int
typedef struct program {
    char folder[512], image[1024], log[4096];
    FILE *names;
    char *last;
} program;

static void write_text(const char *folder, const char *name, const char *text)
{
    char path[1400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    for (char *at = path + strlen(folder) + 1; (at = strchr(at, '/')); at++) {
        *at = 0;
        mkdir(path, 0700);
        *at = '/';
    }
    FILE *f = fopen(path, "w");
    if (f) fputs(text, f), fclose(f);
}

ENTRY nvrtcVersion(int *major, int *minor) { return *major = 0, *minor = 0, 0; }
ENTRY nvrtcCreateProgram(program **made, const char *text, const char *name, int n,
                         const char *const *headers, const char *const *names)
{
    const char *root = getenv("TAEDA_NULL_FOLDER");
    program *p = calloc(1, sizeof *p);
    snprintf(p->folder, sizeof p->folder, "%s/program-XXXXXX", root ? root : "/tmp");
    if (!mkdtemp(p->folder)) return free(p), 1;
    for (int k = 0; k < n; k++)
        if (*headers[k]) write_text(p->folder, names[k], headers[k]);
    write_text(p->folder, "program.cpp", text);
    char path[600];
    snprintf(path, sizeof path, "%s/names", p->folder);
    p->names = fopen(path, "w");
    return *made = p, 0;
}
ENTRY nvrtcAddNameExpression(program *p, const char *name)
{
    return fprintf(p->names, "%s\n", name) < 0;
}
ENTRY nvrtcCompileProgram(program *p, int n, const char *const *options)
{
    char command[2048];
    fclose(p->names);
    snprintf(command, sizeof command, "%s %s >%s/log 2>&1", getenv("TAEDA_NULL_COMPILE"), p->folder,
             p->folder);
    int failed = system(command) != 0;
    char path[600];
    snprintf(path, sizeof path, "%s/%s", p->folder, failed ? "log" : "image");
    FILE *f = fopen(path, "r");
    char *to = failed ? p->log : p->image;
    size_t room = failed ? sizeof p->log : sizeof p->image, got = f ? fread(to, 1, room - 1, f) : 0;
    to[got] = 0;
    if (f) fclose(f);
    return failed ? 6 : 0;
}
ENTRY nvrtcGetProgramLogSize(program *p, size_t *n) { return *n = strlen(p->log) + 1, 0; }
ENTRY nvrtcGetProgramLog(program *p, char *log) { return strcpy(log, p->log), 0; }
ENTRY nvrtcGetCUBINSize(program *p, size_t *n) { return *n = strlen(p->image) + 1, 0; }
ENTRY nvrtcGetCUBIN(program *p, char *image) { return strcpy(image, p->image), 0; }
ENTRY nvrtcGetLoweredName(program *p, const char *name, const char **lowered)
{
    free(p->last);
    return *lowered = p->last = strdup(name), 0;
}
ENTRY nvrtcDestroyProgram(program **p)
{
    free((*p)->last);
    free(*p);
    return *p = NULL, 0;
}
