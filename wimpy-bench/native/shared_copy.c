/*
 * The floor of a READ on the same host: copies from memory of another process, mapped for reading only, into buffers that
 * take turns. Before each copy a row of a table in shared memory is read, as the software RNIC does (version, key, where
 * the memory is), and behind it the version once more. The other process owns the memory and sleeps.
 *
 * shared_copy [--size BYTES] [--region BYTES] [--window N] [--millis N] [--warmup MILLIS] [--cpu N]
 * Prints one JSON line: copies, nanoseconds that they took, copies that were wrong (one in 256 is compared).
 */
#define _GNU_SOURCE
#include <getopt.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { POSITION_BYTES = 64, COMPARE_INTERVAL = 256, COPIES_PER_CLOCK = 64, ROW_BYTES = 4096, PERIOD = 65536, KEY = 0x5eed };

static struct {
    size_t size;
    size_t region;
    size_t window;
    long millis;
    long warmup;
    int cpu;
} options = {.size = 1024, .region = 1024 * 1000, .window = 16, .millis = 700, .warmup = 200, .cpu = -1};

struct row {
    _Atomic uint32_t version;
    uint32_t key;
    uint64_t start;
    uint64_t length;
};

static const struct option known[] = {
    {"size", required_argument, NULL, 's'},   {"region", required_argument, NULL, 'r'},
    {"window", required_argument, NULL, 'w'}, {"millis", required_argument, NULL, 'm'},
    {"warmup", required_argument, NULL, 'u'}, {"cpu", required_argument, NULL, 'c'},
    {NULL, 0, NULL, 0},
};

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void usage(void) {
    fprintf(stderr, "usage: shared_copy [--size BYTES] [--region BYTES] [--window N] [--millis N] [--warmup MILLIS] [--cpu N]\n");
    exit(2);
}

static long long number(const char *text, long long least) {
    char *end;
    long long value = strtoll(text, &end, 10);
    if (*text == 0 || *end != 0 || value < least || value > (1LL << 40)) {
        fprintf(stderr, "shared_copy: '%s': expected a whole number from %lld\n", text, least);
        exit(2);
    }
    return value;
}

static void parse(int argc, char **argv) {
    for (int option; (option = getopt_long(argc, argv, "", known, NULL)) != -1;) {
        switch (option) {
        case 's': options.size = (size_t)number(optarg, 1); break;
        case 'r': options.region = (size_t)number(optarg, 1); break;
        case 'w': options.window = (size_t)number(optarg, 1); break;
        case 'm': options.millis = (long)number(optarg, 1); break;
        case 'u': options.warmup = (long)number(optarg, 0); break;
        case 'c': options.cpu = (int)number(optarg, 0); break;
        default: usage();
        }
    }
    if (optind < argc) usage();
    if (options.region < options.size) options.region = options.size;
}

/* Repeats after PERIOD bytes. */
static uint8_t byte_at(uint64_t offset) {
    return (uint8_t)(offset * 31 + (offset >> 8));
}

static uint64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* The process that owns the memory: fills it, says so, and sleeps until the other one has ended. */
static void own(int memory, int ready) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    uint8_t *bytes = mmap(NULL, ROW_BYTES + options.region, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0);
    if (bytes == MAP_FAILED) fail("mmap");
    for (size_t i = 0; i < options.region; i++) bytes[ROW_BYTES + i] = byte_at(i);
    struct row *row = (struct row *)bytes;
    row->key = KEY;
    row->start = ROW_BYTES;
    row->length = options.region;
    atomic_store_explicit(&row->version, 2, memory_order_release);
    if (write(ready, "r", 1) != 1) fail("write");
    for (;;) pause();
}

static const uint8_t *shared;
static uint8_t *sinks;
static uint8_t *pattern; /* of PERIOD bytes and the longest copy */
static uint64_t state = 88172645463325252u;
static uint64_t copies;
static uint64_t wrong;

static bool copy(uint8_t *sink, uint64_t offset) {
    const struct row *row = (const struct row *)shared;
    uint32_t version = atomic_load_explicit(&row->version, memory_order_acquire);
    if ((version & 1) != 0 || row->key != KEY || offset + options.size > row->length) return false;
    memcpy(sink, shared + row->start + offset, options.size);
    atomic_thread_fence(memory_order_acquire);
    return atomic_load_explicit(&row->version, memory_order_relaxed) == version;
}

static uint64_t run(long millis) {
    uint64_t positions = (options.region - options.size) / POSITION_BYTES + 1;
    uint64_t start = now(), end = start;
    copies = wrong = 0;
    while (end - start < (uint64_t)millis * 1000000u) {
        for (int i = 0; i < COPIES_PER_CLOCK; i++) {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            uint64_t offset = ((state >> 32) * positions >> 32) * POSITION_BYTES;
            uint8_t *sink = sinks + copies % options.window * options.size;
            bool compared = copies++ % COMPARE_INTERVAL == 0;
            if (compared) memset(sink, 0xEE, options.size);
            if (!copy(sink, offset)) wrong++;
            __asm__ volatile("" ::: "memory"); /* the copy is used */
            if (compared && memcmp(sink, pattern + offset % PERIOD, options.size) != 0) wrong++;
        }
        end = now();
    }
    return end - start;
}

int main(int argc, char **argv) {
    parse(argc, argv);
    if (options.cpu >= 0) {
        cpu_set_t cpus;
        CPU_ZERO(&cpus);
        CPU_SET(options.cpu, &cpus);
        if (sched_setaffinity(0, sizeof cpus, &cpus) != 0) fail("sched_setaffinity");
    }
    int memory = memfd_create("shared_copy", MFD_CLOEXEC);
    if (memory < 0 || ftruncate(memory, (off_t)(ROW_BYTES + options.region)) != 0) fail("memfd_create");
    int ready[2];
    if (pipe(ready) != 0) fail("pipe");
    pid_t owner = fork();
    if (owner < 0) fail("fork");
    if (owner == 0) own(memory, ready[1]);
    char said;
    close(ready[1]);
    if (read(ready[0], &said, 1) != 1) {
        fprintf(stderr, "shared_copy: the owner of the memory has ended\n");
        return 1;
    }
    shared = mmap(NULL, ROW_BYTES + options.region, PROT_READ, MAP_SHARED, memory, 0);
    sinks = aligned_alloc(4096, (options.window * options.size + 4095) / 4096 * 4096);
    pattern = malloc(PERIOD + options.size);
    if (shared == MAP_FAILED || sinks == NULL || pattern == NULL) fail("mmap");
    for (size_t i = 0; i < PERIOD + options.size; i++) pattern[i] = byte_at(i);
    if (options.warmup > 0) run(options.warmup);
    uint64_t nanoseconds = run(options.millis);
    printf("{\"copies\": %llu, \"nanoseconds\": %llu, \"wrong\": %llu}\n", (unsigned long long)copies,
           (unsigned long long)nanoseconds, (unsigned long long)wrong);
    kill(owner, SIGKILL);
    waitpid(owner, NULL, 0);
    return wrong == 0 ? 0 : 1;
}
