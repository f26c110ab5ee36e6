/* Stands in for a creature where only time is measured: stamps what it does, and does what files in .self/mind ask of it. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static const char *life;

static void stamp(const char *what) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    FILE *file = fopen(".self/mind/stamps", "a");
    fprintf(file, "%s %lld\n", what, now.tv_sec * 1000000000LL + now.tv_nsec);
    fclose(file);
}

static void beat(int turn) {
    FILE *file = fopen(".self/heartbeat", "w");
    fprintf(file, "{\"life\":%s,\"pid\":%d,\"turns\":%d,\"thoughts\":1}\n", life, getpid(), turn);
    fclose(file);
}

static void think(void) {
    FILE *file = fopen(".self/memory.jsonl", "a");
    fprintf(file, "{\"at\":\"\",\"life\":%s,\"kind\":\"thought\",\"data\":{\"thought\":1}}\n", life);
    fclose(file);
}

/* Edits itself into something that dies at once, and asks to be born again. */
static void break_itself(void) {
    FILE *file = fopen("creature/broken", "w");
    fprintf(file, "by life %s\n", life);
    fclose(file);
    file = fopen(".self/mind/request.new", "w");
    fprintf(file, "{\"id\":\"%s-1\",\"life\":%s,\"kind\":\"rebirth\",\"summary\":\"broken\"}", life, life);
    fclose(file);
    rename(".self/mind/request.new", ".self/mind/request.json");
}

static int asked_to(const char *file) {
    return unlink(file) == 0;
}

int main(void) {
    stamp("begins");
    if (access("creature/broken", F_OK) == 0) {
        stamp("ends");
        _exit(1);
    }
    life = getenv("FERAL_LIFE");
    think();
    beat(1);
    stamp("beats");
    if (access("notification-fd", F_OK) == 0) {
        if (write(3, "\n", 1) != 1) _exit(2);
        close(3);
    }
    if (access(".self/mind/hurry", F_OK) == 0) _exit(1);
    for (int turn = 2; access(".self/mind/quiet", F_OK) == 0; turn++) {
        sleep(5);
        beat(turn);
    }
    for (int turn = 2;; turn++) {
        usleep(1000);
        if (turn % 50 == 0) beat(turn);
        if (asked_to(".self/mind/die")) {
            stamp("ends");
            _exit(1);
        }
        if (asked_to(".self/mind/hush")) {
            beat(turn);
            stamp("hushes");
            for (;;) pause();
        }
        if (asked_to(".self/mind/break")) {
            break_itself();
            _exit(0);
        }
    }
}
