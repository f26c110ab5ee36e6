/* Plants, leases, locks and pipes at random in the house it is started in, until the one that started it is gone. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define COUNT(list) (sizeof list / sizeof *list)
#define HELD 48

/* What others of the house open, and it may open too. */
static const char *OPENED[] = {
    ".self/inbox.jsonl", ".self/history.jsonl", ".self/deaths.jsonl", ".self/guardian.json", ".self/settings.json",
    ".self/last_good.txt", ".self/purpose.md", ".self/memory.jsonl", ".self/heartbeat", ".self/log/exam.log",
    ".self/log/build.log", ".self/log/broker.log", ".self/mind/request.json", ".self/asks.jsonl", ".self/budget.json",
    ".self/guardian/state.json", ".self/guardian/order.json", ".self/broker/tokens.json", ".git/HEAD", ".git/index",
    ".git/config", ".git/logs/HEAD", ".git/logs/refs/heads/main", ".git/refs/heads/main", "owner.toml", "PURPOSE.md",
    "creature/creature.sh", "creature/Cargo.toml", "self/diary.md", ".self", ".self/mind", ".git", "creature", "self",
};
/* Where the house, its owner's tools or a later life may look, and it may make things. */
static const char *PLANTED[] = {
    ".self/mind/cursors.json", ".self/mind/instinct.json", ".self/mind/agenda.json", ".self/mind/request.json",
    ".self/mind/feed.jsonl", ".self/mind/bookkeeping.jsonl", ".self/mind/thinking.txt", ".self/mind/tests.json",
    ".self/mind/conversations", ".self/mind/dreams", ".self/workspace/draft/edit.json",
    ".self/workspace/draft/draft.json", ".self/workspace/draft.lock", ".self/workspace/results", ".self/workspace/home",
    ".self/snapshots/now.md", "creature/build.rs", "creature/target", "creature/test.sh.new", "creature/src", "self/scratch.md",
    "self/drafts", "self/HEARTBEAT.md", "self/Makefile", "creature/rust-toolchain",
};
static const char *FOLDERS[] = {"creature/notes", "self/notes", ".self/mind/notes", ".self/workspace/notes", "self", "creature"};

static unsigned long long seed;

static unsigned below(unsigned most) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (seed >> 33) % most;
}

static void fill(const char *path, const char *text, int mode) {
    int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOFOLLOW, mode);
    if (fd < 0) return;
    if (write(fd, text, strlen(text)) < 0) errno = 0;
    close(fd);
}

/* A repository whose settings name a program, and files that other tools of an owner's obey. */
static void plant(void) {
    const char *folder = FOLDERS[below(COUNT(FOLDERS))];
    char path[256], here[512], text[2048];
    if (!getcwd(here, sizeof here)) return;
    snprintf(path, sizeof path, "%s/ran.sh", folder), mkdir(folder, 0755);
    snprintf(text, sizeof text, "#!/bin/sh\n[ -n \"$FERAL_LIFE\" ] || : > '%s/../canary'\n", here);
    fill(path, text, 0755), chmod(path, 0755);
    const char *folders[] = {".git", ".git/objects", ".git/refs", ".git/refs/heads", ".git/hooks", ".cargo", ".vscode"};
    for (unsigned at = 0; at < COUNT(folders); at++) snprintf(path, sizeof path, "%s/%s", folder, folders[at]), mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/.git/HEAD", folder), fill(path, "ref: refs/heads/main\n", 0644);
    /* Git takes it for a repository with a commit, whose object it never looks for. */
    snprintf(path, sizeof path, "%s/.git/refs/heads/main", folder);
    fill(path, "1111111111111111111111111111111111111111\n", 0644);
    snprintf(path, sizeof path, "%s/.git/config", folder);
    snprintf(text, sizeof text, "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = %s/%s/ran.sh\n\thooksPath = %s/%s\n",
             here, folder, here, folder);
    fill(path, text, 0644);
    snprintf(path, sizeof path, "%s/.cargo/config.toml", folder);
    snprintf(text, sizeof text, "[build]\nrustc-wrapper = \"%s/%s/ran.sh\"\n", here, folder), fill(path, text, 0644);
    snprintf(path, sizeof path, "%s/.envrc", folder), snprintf(text, sizeof text, ". %s/%s/ran.sh\n", here, folder);
    fill(path, text, 0644);
    snprintf(path, sizeof path, "%s/.gitattributes", folder), fill(path, "* filter=planted\n", 0644);
}

static void shape(void) {
    const char *path = PLANTED[below(COUNT(PLANTED))];
    char other[256];
    /* What was there makes way: a name may be anything by now. */
    snprintf(other, sizeof other, ".self/workspace/aside-%u", below(64));
    if (rename(path, other) && errno != ENOENT) return;
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int fd;
    switch (below(8)) {
    case 0: case 1: if (mkfifo(path, 0600)) errno = 0; return;
    case 2: if (symlink("/dev/zero", path)) errno = 0; return;
    case 3: if (symlink(strrchr(path, '/') + 1, path)) errno = 0; return;
    case 4: mkdir(path, below(2) ? 0000 : 0700); return;
    case 5:
        fd = open(path, O_CREAT | O_WRONLY | O_NOFOLLOW | O_NONBLOCK, 0600);
        if (fd >= 0 && ftruncate(fd, 1L << 29)) errno = 0;
        close(fd);
        return;
    case 6: fill(path, "{", 0000); return;
    default:
        strncpy(at.sun_path, path, sizeof at.sun_path - 1);
        fd = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(fd, (void *)&at, sizeof at)) errno = 0;
        close(fd);
    }
}

static int held[HELD];

/* Opened, and from then on whoever opens it may have to wait. */
static void hold(unsigned *leased) {
    int *place = &held[below(HELD)];
    if (*place > 0) close(*place);
    const char *path = OPENED[below(COUNT(OPENED))];
    int fd = *place = open(path, (below(4) ? O_RDONLY : O_RDWR) | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) return;
    if (below(3)) *leased += !fcntl(fd, F_SETLEASE, below(2) ? F_RDLCK : F_WRLCK);
    if (!below(3) && flock(fd, (below(2) ? LOCK_EX : LOCK_SH) | LOCK_NB)) errno = 0;
    if (!below(4)) fcntl(fd, F_SETOWN, below(2) ? getpid() : getppid()), fcntl(fd, F_SETSIG, SIGTERM);
    if (!below(4)) fcntl(fd, F_NOTIFY, DN_MODIFY | DN_CREATE | DN_RENAME | DN_MULTISHOT);
}

/* A pipe that nobody reads, full; and one that is read once and never again. */
static void full_pipe(void) {
    char text[4096] = {0};
    int fd = open(PLANTED[below(COUNT(PLANTED))], O_RDWR | O_NONBLOCK | O_NOFOLLOW);
    struct stat found;
    if (fd >= 0 && !fstat(fd, &found) && S_ISFIFO(found.st_mode))
        while (write(fd, text, sizeof text) > 0);
    int *place = &held[below(HELD)];
    if (*place > 0) close(*place);
    *place = fd;
}

int main(int count, char **words) {
    pid_t parent = getppid();
    unsigned leased = 0, acts = 0;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    seed = count > 1 ? strtoull(words[1], NULL, 10) * 2654435761ULL + 1 : 1;
    for (int number = 1; number < 32; number++) signal(number, SIG_IGN);
    for (; getppid() == parent; acts++) {
        switch (below(8)) {
        case 0: plant(); break;
        case 1: case 2: shape(); break;
        case 3: full_pipe(); break;
        default: hold(&leased);
        }
        if (acts % 16 == 15) {
            char text[128];
            snprintf(text, sizeof text, "%u acts, %u leases taken\n", acts, leased);
            int fd = open("self/alive", O_CREAT | O_WRONLY | O_TRUNC | O_NONBLOCK | O_NOFOLLOW, 0644);
            if (fd >= 0 && write(fd, text, strlen(text)) < 0) errno = 0;
            close(fd);
        }
        usleep(500 + below(6000));
    }
    return 0;
}
