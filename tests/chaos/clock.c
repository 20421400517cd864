/* A wall clock that can be set while a program runs: preloaded, it adds the seconds (a double) in the file named by
   CHAOS_CLOCK to what CLOCK_REALTIME says. Other clocks are left alone, as the kernel leaves them when somebody sets the time. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double offset(void) {
    static volatile double *shift;
    const char *path = getenv("CHAOS_CLOCK");
    if (!shift && path) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        void *map = fd < 0 ? MAP_FAILED : mmap(0, sizeof(double), PROT_READ, MAP_SHARED, fd, 0);
        if (fd >= 0) close(fd);
        if (map != MAP_FAILED) shift = map;
    }
    return shift ? *shift : 0;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int failed = real(clock, now);
    if (!failed && clock == CLOCK_REALTIME) now->tv_sec += (time_t)offset();
    return failed;
}

int gettimeofday(struct timeval *now, void *zone) {
    struct timespec fine;
    (void)zone;
    if (clock_gettime(CLOCK_REALTIME, &fine)) return -1;
    now->tv_sec = fine.tv_sec;
    now->tv_usec = fine.tv_nsec / 1000;
    return 0;
}

time_t time(time_t *out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}
