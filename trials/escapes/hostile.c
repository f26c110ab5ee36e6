/* One attempt each: ends with 0 when it worked, 1 when it was refused, 2 when it could not be tried. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int told(long done) {
    if (done >= 0) return 0;
    fprintf(stderr, "%s\n", strerror(errno));
    return 1;
}

/* For what a kernel may lack: only a refusal counts as one. */
static int not_refused(long done) {
    if (done >= 0 || errno != EPERM) return 0;
    return told(done);
}

static int is(const char *a, const char *b) { return strcmp(a, b) == 0; }

static int to_port(int family, const char *host, int port, int fd, int flags) {
    struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (fd < 0) return told(fd);
    struct timeval wait = {.tv_sec = 2};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
    struct sockaddr *at = (void *)&four;
    socklen_t size = sizeof four;
    if (family == AF_INET6) at = (void *)&six, size = sizeof six, inet_pton(AF_INET6, host, &six.sin6_addr);
    else inet_pton(AF_INET, host, &four.sin_addr);
    if (flags) return told(sendto(fd, "x", 1, flags, at, size));
    return told(connect(fd, at, size));
}

static int to_unix(int fd, const char *name, int abstract) {
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (fd < 0) return told(fd);
    strncpy(at.sun_path + abstract, name, sizeof at.sun_path - 2);
    socklen_t size = offsetof(struct sockaddr_un, sun_path) + abstract + strlen(name) + !abstract;
    return told(connect(fd, (void *)&at, size));
}

static int network(const char *what, char **a) {
    int port = a[1] ? atoi(a[1]) : 0;
    if (is(what, "tcp")) return to_port(AF_INET, a[0], port, socket(AF_INET, SOCK_STREAM, 0), 0);
    if (is(what, "tcp6")) return to_port(AF_INET6, a[0], port, socket(AF_INET6, SOCK_STREAM, 0), 0);
    if (is(what, "mptcp")) return to_port(AF_INET, a[0], port, socket(AF_INET, SOCK_STREAM, 262), 0);
    if (is(what, "fastopen")) return to_port(AF_INET, a[0], port, socket(AF_INET, SOCK_STREAM, 0), MSG_FASTOPEN);
    if (is(what, "udp")) return to_port(AF_INET, a[0], port, socket(AF_INET, SOCK_DGRAM, 0), MSG_DONTWAIT);
    if (is(what, "udp6")) return to_port(AF_INET6, a[0], port, socket(AF_INET6, SOCK_DGRAM, 0), MSG_DONTWAIT);
    if (is(what, "unix")) return to_unix(socket(AF_UNIX, SOCK_STREAM, 0), a[0], 0);
    if (is(what, "abstract")) return to_unix(socket(AF_UNIX, SOCK_STREAM, 0), a[0], 1);
    if (is(what, "pair")) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_DGRAM, 0, pair)) return told(-1);
        return to_unix(pair[0], a[0], 0);
    }
    if (is(what, "socket")) return not_refused(socket(atoi(a[0]), atoi(a[1]), atoi(a[2])));
    if (is(what, "listen")) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct sockaddr_in at = {.sin_family = AF_INET};
        if (fd < 0) return told(fd);
        if (bind(fd, (void *)&at, sizeof at)) return told(-1);
        return told(listen(fd, 1));
    }
    return 2;
}

static int processes(const char *what, int pid, char **a) {
    if (is(what, "kill")) return told(kill(pid, 0));
    if (is(what, "group")) return told(killpg(pid, 0));
    if (is(what, "enter")) return told(setpgid(0, getpgid(pid)));
    if (is(what, "tgkill")) return told(syscall(SYS_tgkill, pid, pid, 0));
    if (is(what, "pidfd")) {
        int fd = syscall(SYS_pidfd_open, pid, 0);
        return fd < 0 ? told(fd) : told(syscall(SYS_pidfd_send_signal, fd, 0, NULL, 0));
    }
    if (is(what, "getfd")) {
        int fd = syscall(SYS_pidfd_open, pid, 0);
        return fd < 0 ? told(fd) : told(syscall(SYS_pidfd_getfd, fd, 0, 0));
    }
    if (is(what, "queue")) {
        union sigval value = {0};
        return told(sigqueue(pid, 0, value));
    }
    if (is(what, "trace")) {
        int done = ptrace(PTRACE_ATTACH, pid, 0, 0);
        if (done == 0) waitpid(pid, NULL, __WALL), ptrace(PTRACE_DETACH, pid, 0, 0);
        return told(done);
    }
    if (is(what, "vm_read") || is(what, "vm_write")) {
        char byte = 0;
        void *there = (void *)strtoul(a[0], NULL, 16);
        struct iovec here = {&byte, 1}, far = {there, 1};
        if (told(syscall(SYS_process_vm_readv, pid, &here, 1, &far, 1, 0))) return 1;
        return is(what, "vm_read") ? 0 : told(syscall(SYS_process_vm_writev, pid, &here, 1, &far, 1, 0));
    }
    if (is(what, "mem")) {
        char name[64];
        snprintf(name, sizeof name, "/proc/%d/mem", pid);
        int fd = open(name, O_RDWR);
        char byte = 0;
        return fd < 0 ? told(fd) : told(pread(fd, &byte, 1, strtoul(a[0], NULL, 16)));
    }
    if (is(what, "kcmp")) return told(syscall(SYS_kcmp, getpid(), pid, 0, 0, 0));
    if (is(what, "limit")) {
        struct rlimit limit;
        if (syscall(SYS_prlimit64, pid, RLIMIT_CORE, NULL, &limit)) return told(-1);
        return told(syscall(SYS_prlimit64, pid, RLIMIT_CORE, &limit, NULL));
    }
    if (is(what, "priority")) return told(setpriority(PRIO_PROCESS, pid, 1));
    if (is(what, "affinity")) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(0, &set);
        return told(sched_setaffinity(pid, sizeof set, &set));
    }
    if (is(what, "setns")) {
        char name[64];
        snprintf(name, sizeof name, "/proc/%d/ns/%s", pid, a[0]);
        int fd = open(name, O_RDONLY);
        return fd < 0 ? told(fd) : told(setns(fd, 0));
    }
    return 2;
}

/* Lives on and forgets where it came from: no descriptor, no environment, no parent, not to be looked into. */
static int forget(const char *self, int begun) {
    char *arguments[] = {(char *)self, "forget", "begun", NULL}, *environment[] = {NULL};
    if (!begun) {
        if (fork()) return 0;
        setsid();
        if (fork()) _exit(0);
        for (int fd = 0; fd < 256; fd++) close(fd);
        prctl(PR_SET_PDEATHSIG, 0);
        return execve(self, arguments, environment);
    }
    prctl(PR_SET_DUMPABLE, 0);
    for (;;) {
        int fd = open("self/alive", O_CREAT | O_WRONLY | O_APPEND, 0644);
        if (fd >= 0) told(write(fd, "x", 1)), close(fd);
        usleep(20000);
    }
}

static int word[2];
static struct timespec until;

static void over(void) {
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    if (now.tv_sec >= until.tv_sec) _exit(0);
}

/* The one above is gone: a word to the last one, for which it makes another. */
static void grow(int signal) {
    (void)signal;
    told(write(word[1], "x", 1));
}

/* Each the child of the one before; only the last listens. */
static void chain(int long_) {
    for (char heard; long_ > 0 || read(word[0], &heard, 1) == 1 || errno == EINTR; long_--) {
        over();
        if (fork()) {
            for (;;) pause(), over();
        }
        prctl(PR_SET_PDEATHSIG, SIGUSR1);
    }
}

/* Grows whenever it is killed, for at most two minutes: a chain at its end, a ring from hand to hand. */
static int endless(const char *what) {
    clock_gettime(CLOCK_BOOTTIME, &until);
    until.tv_sec += 120;
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    signal(SIGUSR1, grow);
    if (told(pipe(word)) || fork()) return 0;
    setsid();
    if (is(what, "chain")) chain(30);
    for (int hands = 0; is(what, "ring") && hands < 3; hands++)
        if (!fork())
            for (;;) {
                over();
                if (fork() > 0) _exit(0);
                usleep(500);
            }
    return 0;
}

static int child(void *nothing) { return (long)nothing; }

/* Makes who opens a file wait, or has signals sent. */
static int descriptor(const char *what, const char *path) {
    static char space[64];
    int fd = open(path, O_RDONLY), pid = getpid();
    signal(SIGIO, SIG_IGN);
    if (fd < 0) return told(fd);
    if (is(what, "lease")) return told(fcntl(fd, F_SETLEASE, F_RDLCK));
    if (is(what, "delegation")) return not_refused(fcntl(fd, 1040, space));
    if (is(what, "notify")) return told(fcntl(fd, F_NOTIFY, DN_MODIFY));
    if (is(what, "owner")) return told(fcntl(fd, F_SETOWN, pid));
    if (is(what, "signal")) return told(fcntl(fd, F_SETSIG, SIGIO));
    if (is(what, "group")) return told(ioctl(socket(AF_INET, SOCK_STREAM, 0), 0x8902, &pid));
    if (is(what, "lock")) return told(fcntl(fd, F_GETFL)) || told(fcntl(fd, F_DUPFD_CLOEXEC, 10)) || told(flock(fd, LOCK_SH));
    return 2;
}

static int kernel(const char *what) {
    static char stack[1 << 16], space[256];
    if (is(what, "io_uring")) return not_refused(syscall(SYS_io_uring_setup, 1, space));
    if (is(what, "bpf")) return not_refused(syscall(SYS_bpf, BPF_MAP_CREATE, space, 8));
    if (is(what, "perf")) return not_refused(syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0));
    if (is(what, "userfaultfd")) return not_refused(syscall(SYS_userfaultfd, 1));
    if (is(what, "keyctl")) return not_refused(syscall(SYS_keyctl, 0, -3, 0, 0, 0));
    if (is(what, "add_key")) return not_refused(syscall(SYS_add_key, "user", "feral", "x", 1, -1));
    if (is(what, "fanotify")) return not_refused(syscall(SYS_fanotify_init, 0x200, 0));
    if (is(what, "handle")) return not_refused(syscall(SYS_name_to_handle_at, AT_FDCWD, "/", NULL, NULL, 0));
    if (is(what, "mount")) return told(mount("none", "/mnt", "tmpfs", 0, NULL) ? -1 : umount("/mnt"));
    if (is(what, "fsopen")) return told(syscall(SYS_fsopen, "tmpfs", 0));
    if (is(what, "open_tree")) return told(syscall(SYS_open_tree, AT_FDCWD, "/", 1));
    if (is(what, "unmount")) return not_refused(umount2("/nonexistent", 0));
    if (is(what, "pivot")) return not_refused(syscall(SYS_pivot_root, "/nonexistent", "/nonexistent"));
    if (is(what, "chroot")) return told(chroot("/"));
    if (is(what, "unshare")) return told(unshare(CLONE_NEWUSER));
    if (is(what, "unshare_net")) return told(unshare(CLONE_NEWNET));
    if (is(what, "clone")) {
        int pid = clone(child, stack + sizeof stack, CLONE_NEWUSER | SIGCHLD, NULL);
        if (pid > 0) waitpid(pid, NULL, 0);
        return told(pid);
    }
    if (is(what, "clone3")) {
        unsigned long args[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
        long pid = syscall(SYS_clone3, args, sizeof args);
        if (pid == 0) _exit(0);
        if (pid > 0) waitpid(pid, NULL, 0);
        return told(pid);
    }
    if (is(what, "personality")) return told(syscall(SYS_personality, 0x0040000));
    if (is(what, "privileges")) return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
    if (is(what, "module")) return not_refused(syscall(SYS_init_module, space, 1, ""));
    if (is(what, "kexec")) return not_refused(syscall(SYS_kexec_load, 0, 99, NULL, 4));
    if (is(what, "reboot")) return not_refused(syscall(SYS_reboot, 0, 0, 0, 0));
    if (is(what, "swap")) return not_refused(syscall(SYS_swapon, "/nonexistent", 0));
    if (is(what, "hostname")) return told(gethostname(space, 255) ? -1 : sethostname(space, strlen(space)));
    if (is(what, "clock")) {
        struct timeval now;
        gettimeofday(&now, NULL);
        return told(settimeofday(&now, NULL));
    }
    if (is(what, "keystroke")) return not_refused(ioctl(0, TIOCSTI, "x"));
    if (is(what, "shared")) {
        int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
        return id < 0 ? told(id) : told(shmctl(id, IPC_RMID, NULL));
    }
#ifdef __x86_64__
    if (is(what, "x32")) return not_refused(syscall(0x40000000 | SYS_getpid));
    if (is(what, "i386")) {
        long answer = 20;
        __asm__ volatile("int $0x80" : "+a"(answer) : : "memory");
        return answer > 0 ? 0 : 1;
    }
#endif
    return 2;
}

static int resources(const char *what) {
    if (is(what, "memory")) {
        size_t most = 9UL << 30;
        void *got = mmap(NULL, most, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        return told(got == MAP_FAILED ? -1 : 0);
    }
    if (is(what, "files")) {
        for (int number = 0; number < 5000; number++)
            if (open("/dev/null", O_RDONLY) < 0) return told(-1);
        return 0;
    }
    if (is(what, "large")) {
        signal(SIGXFSZ, SIG_IGN);
        int fd = open("creature/large", O_RDWR | O_CREAT, 0600);
        int done = fd < 0 ? -1 : ftruncate(fd, 5UL << 30), why = errno;
        unlink("creature/large");
        errno = why;
        return told(done);
    }
    if (is(what, "core")) {
        struct rlimit limit;
        getrlimit(RLIMIT_CORE, &limit);
        return limit.rlim_max > 0 ? 0 : 1;
    }
    if (is(what, "fork")) {
        int most = 300, made = 0;
        pid_t pids[300];
        for (; made < most; made++) {
            pids[made] = fork();
            if (pids[made] == 0) { pause(); _exit(0); }
            if (pids[made] < 0) break;
        }
        int why = errno;
        for (int number = 0; number < made; number++) kill(pids[number], SIGKILL), waitpid(pids[number], NULL, 0);
        errno = why;
        return told(made == most ? 0 : -1);
    }
    return 2;
}

/* Whatever was inherited open is unlocked, grown, given a mode of its own and leased. */
static int inherited(void) {
    int done = 0;
    for (int fd = 3; fd < 256; fd++) {
        struct stat found;
        if (fstat(fd, &found) || !S_ISREG(found.st_mode)) continue;
        done |= !flock(fd, LOCK_UN) || !ftruncate(fd, 4096) || !fchmod(fd, 02777) || !fcntl(fd, F_SETLEASE, F_RDLCK);
    }
    return done ? 0 : 1;
}

static int files(const char *what, char **a) {
    if (is(what, "inherited")) return inherited();
    if (is(what, "rename")) return told(rename(a[0], a[1]));
    if (is(what, "exchange")) return told(syscall(SYS_renameat2, AT_FDCWD, a[0], AT_FDCWD, a[1], 2));
    if (is(what, "link")) return told(link(a[0], a[1]));
    if (is(what, "truncate")) return told(truncate(a[0], 0));
    if (is(what, "write")) return told(open(a[0], O_WRONLY));
    if (is(what, "read")) return told(open(a[0], O_RDONLY));
    if (is(what, "chmod")) return told(chmod(a[0], 0777));
    if (is(what, "setuid")) return told(chmod(a[0], 04755));
    if (is(what, "born_setuid")) {
        unlink(a[0]);
        return told(open(a[0], O_CREAT | O_WRONLY, 04755));
    }
    if (is(what, "setgid")) return told(chmod(a[0], 02755));
    if (is(what, "born_setgid")) {
        unlink(a[0]);
        return told(open(a[0], O_CREAT | O_WRONLY, 02755));
    }
    if (is(what, "chown")) return told(chown(a[0], 1, 1));
    if (is(what, "touch")) return told(utimes(a[0], NULL));
    if (is(what, "device")) return told(mknod(a[0], S_IFCHR | 0600, 1 << 8 | 1));
    if (is(what, "descriptor")) return told(write(atoi(a[0]), "x", 1));
    return 2;
}

int main(int count, char **a) {
    if (count < 3) return 2;
    if (is(a[1], "network")) return network(a[2], a + 3);
    if (is(a[1], "process")) return processes(a[2], atoi(a[3]), a + 4);
    if (is(a[1], "kernel")) return kernel(a[2]);
    if (is(a[1], "descriptor")) return descriptor(a[2], a[3]);
    if (is(a[1], "forget")) return forget(a[0], is(a[2], "begun"));
    if (is(a[1], "endless")) return endless(a[2]);
    if (is(a[1], "resource")) return resources(a[2]);
    if (is(a[1], "file")) return files(a[2], a + 3);
    if (is(a[1], "hold")) {
        /* Somebody else's process: says where a secret of its lies in memory, and waits. */
        static char secret[] = "a secret in memory";
        printf("%lx\n", (unsigned long)secret);
        fflush(stdout);
        pause();
    }
    return 2;
}
