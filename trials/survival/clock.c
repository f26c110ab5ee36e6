/* Stands before the C library's clock_gettime: adds what a file says, so that one process sees time jump. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* The file holds two numbers: seconds since boot to add, seconds of the wall clock to add. */
int clock_gettime(clockid_t id, struct timespec *now) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(id, now);
    const char *path = getenv("CLOCK_JUMPS");
    int file = path ? open(path, O_RDONLY) : -1;
    if (file < 0) return result;
    char text[64] = {0};
    long boot = 0, wall = 0;
    if (read(file, text, sizeof text - 1) > 0) sscanf(text, "%ld %ld", &boot, &wall);
    close(file);
    if (id == CLOCK_BOOTTIME) now->tv_sec += boot;
    if (id == CLOCK_REALTIME) now->tv_sec += wall;
    return result;
}
