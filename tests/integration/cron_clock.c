// Preloaded into Debian's /usr/sbin/cron by cron_cases.py. The daemon's clock starts at
// $PAWL_TEST_CRON_BEGIN, sleep() advances it without waiting, and the process ends at
// $PAWL_TEST_CRON_END (seconds of UTC). Absolute paths are those in the folder
// $PAWL_TEST_CRON_ROOT. What the daemon logs is written to stderr, a line each, after the time.
// A job ends when the daemon has logged its command, before the shell is started.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// The daemon's pause between jobs that it runs late. It takes no time here, so that all of them run
// in one minute.
static const unsigned pause_between_jobs = 10;

static time_t now, end;
static int is_job;

__attribute__((constructor)) static void begin(void) {
    now = atoll(getenv("PAWL_TEST_CRON_BEGIN"));
    end = atoll(getenv("PAWL_TEST_CRON_END"));
}

time_t time(time_t* to) {
    if (to != NULL) *to = now;
    return now;
}

unsigned sleep(unsigned seconds) {
    if (seconds != pause_between_jobs) now += seconds;
    if (now >= end) _exit(0);
    return 0;
}

// glibc's name of syslog() in programs with _FORTIFY_SOURCE.
void __syslog_chk(int priority, int flag, const char* format, ...) {
    (void)priority, (void)flag;
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    dprintf(STDERR_FILENO, "%lld %s\n", (long long)now, text);
    if (is_job && strstr(text, ") CMD (") != NULL) _exit(0);
}

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

// The daemon forks a process that forks the job. One process plays both parts. The daemon waits for
// it, so that there is never more than one.
pid_t fork(void) {
    NEXT(fork);
    if (is_job) return 0;
    const pid_t job = next();
    if (job == 0) is_job = 1;
    if (job > 0) waitpid(job, NULL, 0);
    return job;
}

// No PAM session is opened. Each returns PAM_SUCCESS.
int pam_start(void) {
    return 0;
}
int pam_set_item(void) {
    return 0;
}
int pam_acct_mgmt(void) {
    return 0;
}
int pam_setcred(void) {
    return 0;
}
int pam_open_session(void) {
    return 0;
}

static const char* in_root(const char* path) {
    static char moved[4096];
    if (path[0] != '/') return path;
    snprintf(moved, sizeof moved, "%s%s", getenv("PAWL_TEST_CRON_ROOT"), path);
    return moved;
}

int open(const char* path, int flags, ...) {
    NEXT(open);
    va_list arguments;
    va_start(arguments, flags);
    const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
    va_end(arguments);
    return next(in_root(path), flags, mode);
}
int creat(const char* path, mode_t mode) {
    NEXT(creat);
    return next(in_root(path), mode);
}
int access(const char* path, int mode) {
    NEXT(access);
    return next(in_root(path), mode);
}
int chdir(const char* path) {
    NEXT(chdir);
    return next(in_root(path));
}
int stat(const char* path, struct stat* to) {
    NEXT(stat);
    return next(in_root(path), to);
}
int lstat(const char* path, struct stat* to) {
    NEXT(lstat);
    return next(in_root(path), to);
}
DIR* opendir(const char* path) {
    NEXT(opendir);
    return next(in_root(path));
}
