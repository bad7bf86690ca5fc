/* Faults of a disk, for a program that is started with this library in LD_PRELOAD: the n-th call of
 * a kind on a file below a folder fails.
 *
 *   DISCERN_FAULT_FOLDER   the folder; files elsewhere, sockets and pipes are left alone
 *   DISCERN_FAULT_CALL     open, write (also pwrite, pwritev, writev), sync (also fdatasync),
 *                          truncate, rename; without it nothing fails, and all are counted
 *   DISCERN_FAULT_AT       the number of the first call that fails, from 1
 *   DISCERN_FAULT_ERROR    EIO, ENOSPC, or short: the first write is cut in half and says so, as on
 *                          a disk that runs full; those that follow fail with ENOSPC
 *   DISCERN_FAULT_LENGTH   how many calls fail; 0 is all that follow
 *   DISCERN_FAULT_COUNT    a file of six native 64-bit numbers, which exists: the calls of each kind
 *                          in the order above, and how many failed. It outlives a kill.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

enum call { NONE, OPEN, WRITE, SYNC, TRUNCATE, RENAME };
enum verdict { PASS, CUT, FAIL };

static char folder[PATH_MAX];
static size_t folder_length;
static enum call kind;
static uint64_t at, length;
static int error, cuts;
static struct {
    _Atomic uint64_t calls[RENAME], failures;
} unmapped, *counts = &unmapped;

static const char *setting(const char *name) {
    const char *text = getenv(name);
    return text == NULL ? "" : text;
}

static void bad(const char *what) {
    fprintf(stderr, "faults: %s\n", what);
    _exit(99);
}

__attribute__((constructor)) static void prepare(void) {
    if (realpath(setting("DISCERN_FAULT_FOLDER"), folder) == NULL) bad("no such folder");
    folder_length = strlen(folder);
    static const char *const calls[] = {"", "open", "write", "sync", "truncate", "rename"};
    for (int i = OPEN; i <= RENAME; i++)
        if (strcmp(setting("DISCERN_FAULT_CALL"), calls[i]) == 0) kind = (enum call)i;
    if (kind == NONE && *setting("DISCERN_FAULT_CALL") != 0) bad("no such call");
    at = strtoull(setting("DISCERN_FAULT_AT"), NULL, 10);
    length = strtoull(setting("DISCERN_FAULT_LENGTH"), NULL, 10);
    const char *name = setting("DISCERN_FAULT_ERROR");
    cuts = strcmp(name, "short") == 0;
    error = strcmp(name, "EIO") == 0 ? EIO : ENOSPC;
    int file = open(setting("DISCERN_FAULT_COUNT"), O_RDWR | O_CLOEXEC);
    if (file < 0) bad("no file to count in");
    void *map = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (map == MAP_FAILED) bad("the file to count in cannot be mapped");
    counts = map;
    /* Programs that this one starts are none of ours. */
    unsetenv("LD_PRELOAD");
}

static int is_below(const char *path) {
    return folder_length > 0 && strncmp(path, folder, folder_length) == 0 &&
           (path[folder_length] == '/' || path[folder_length] == 0);
}

static int is_ours(int file) {
    char link[40], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count < 0) return 0;
    path[count] = 0;
    return is_below(path);
}

static enum verdict count_call(enum call call) {
    uint64_t number = atomic_fetch_add(&counts->calls[call - 1], 1) + 1;
    if (call != kind || number < at || (length > 0 && number >= at + length)) return PASS;
    atomic_fetch_add(&counts->failures, 1);
    return cuts && number == at ? CUT : FAIL;
}

static enum verdict judge(enum call call, int file) {
    int saved = errno;
    enum verdict verdict = is_ours(file) ? count_call(call) : PASS;
    errno = saved;
    return verdict;
}

/* The function that this one stands before. */
#define NEXT(name)                                                                                 \
    static __typeof__(name) *next;                                                                 \
    if (next == NULL) next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

#define FAILED (errno = error, -1)

/* A write of one byte cannot be cut. */
#define CUT_TO(count) ((count) > 1 ? (count) / 2 : (count))

#define WRITE_CALL(name, offset_type)                                                              \
    ssize_t name(int file, const void *bytes, size_t count, offset_type offset) {                  \
        NEXT(name);                                                                                \
        enum verdict verdict = judge(WRITE, file);                                                 \
        if (verdict == FAIL) return FAILED;                                                        \
        return next(file, bytes, verdict == CUT ? CUT_TO(count) : count, offset);                  \
    }
WRITE_CALL(pwrite, off_t)
WRITE_CALL(pwrite64, off64_t)

ssize_t write(int file, const void *bytes, size_t count) {
    NEXT(write);
    enum verdict verdict = judge(WRITE, file);
    if (verdict == FAIL) return FAILED;
    return next(file, bytes, verdict == CUT ? CUT_TO(count) : count);
}

/* Several parts are not cut: then it fails whole. */
ssize_t writev(int file, const struct iovec *parts, int count) {
    NEXT(writev);
    return judge(WRITE, file) == PASS ? next(file, parts, count) : FAILED;
}

#define SIMPLE_CALL(type, name, call, parameters, arguments)                                       \
    type name parameters {                                                                         \
        NEXT(name);                                                                                \
        return judge(call, file) == PASS ? next arguments : FAILED;                                \
    }
SIMPLE_CALL(int, fsync, SYNC, (int file), (file))
SIMPLE_CALL(int, fdatasync, SYNC, (int file), (file))
SIMPLE_CALL(int, ftruncate, TRUNCATE, (int file, off_t size), (file, size))
SIMPLE_CALL(int, ftruncate64, TRUNCATE, (int file, off64_t size), (file, size))

static enum verdict judge_path(enum call call, const char *path) {
    if (path == NULL) return PASS;
    char parent[PATH_MAX], real[PATH_MAX];
    int saved = errno;
    /* The file itself may not be there yet; paths that are relative go from where we are. */
    const char *slash = strrchr(path, '/');
    snprintf(parent, sizeof parent, "%.*s", slash == NULL ? 1 : (int)(slash - path + 1),
             slash == NULL ? "." : path);
    int ours = realpath(parent, real) != NULL && is_below(real);
    enum verdict verdict = ours ? count_call(call) : PASS;
    errno = saved;
    return verdict;
}

#define OPEN_CALL(name)                                                                            \
    int name(const char *path, int flags, ...) {                                                   \
        NEXT(name);                                                                                \
        va_list list;                                                                              \
        va_start(list, flags);                                                                     \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;                    \
        va_end(list);                                                                              \
        return judge_path(OPEN, path) == PASS ? next(path, flags, mode) : FAILED;                  \
    }
OPEN_CALL(open)
OPEN_CALL(open64)

int rename(const char *from, const char *to) {
    NEXT(rename);
    return judge_path(RENAME, to) == PASS ? next(from, to) : FAILED;
}
