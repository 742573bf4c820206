// Preloaded into the server by murphy_cases.py: while the file $PAWL_TEST_EIO exists, writes and
// syncs of a database, its WAL or its shared memory fail with EIO, as on a dying disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int broken(int fd) {
    const char* flag = getenv("PAWL_TEST_EIO");
    char link[64], path[4096];
    if (flag == NULL || access(flag, F_OK) != 0) return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    const ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    if (strstr(path, "rides.db") == NULL) return 0;
    errno = EIO;
    return 1;
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

ssize_t pwrite(int fd, const void* bytes, size_t count, off_t at) {
    NEXT(pwrite);
    return broken(fd) ? -1 : next(fd, bytes, count, at);
}
ssize_t pwrite64(int fd, const void* bytes, size_t count, off64_t at) {
    NEXT(pwrite64);
    return broken(fd) ? -1 : next(fd, bytes, count, at);
}
int fsync(int fd) {
    NEXT(fsync);
    return broken(fd) ? -1 : next(fd);
}
int fdatasync(int fd) {
    NEXT(fdatasync);
    return broken(fd) ? -1 : next(fd);
}
