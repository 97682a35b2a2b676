/*
 * What the C responders share: options, the region, listening, MPA start-up, and the loop over epoll. One thread. A
 * program that defines OWN_LOOP before has another loop: `open_loop` and `serve_until_stopped`.
 *
 * A program includes this once, behind its own `struct connection`, which has the members of struct example_connection
 * below, and defines `opened` and `run`:
 *
 *   struct example_connection {
 *       int fd;
 *       bool open;
 *       bool established;       MPA start-up is over
 *       bool readable;          the socket may hold bytes we have not received
 *       bool peer_finished;     a FIN is behind the bytes, so a short read does not mean drained
 *       bool blocked;           the socket took less than was to go: wait for EPOLLOUT and do not read
 *       bool has_turn;          in `turns`: there is work that waits for the others to go first
 *       bool watching_output;   level triggered only: what epoll is asked for
 *       struct connection *next_free;
 *       uint8_t held[...];      last: everything before it is zero in a new connection
 *   };
 */
#ifndef RESPONDER_H
#define RESPONDER_H

#include "iwarp.h"

#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_CONNECTIONS = 4096,
    MAX_EVENTS = 256,
    MAX_DEPTH = 1024, /* the most outstanding READs per connection we agree to */
    LISTEN_BACKLOG = 4096,
};

enum outcome { NEEDS_INPUT, NEEDS_ROOM, NEEDS_TURN, BROKEN };

static struct {
    int port;
    uint64_t region_bytes;
    uint64_t quantum; /* bytes that a connection moves before others get a turn */
    bool spin;
    bool level_triggered;
    int cpu;
    int sndbuf;
    int rcvbuf;
    const char *congestion;
} common = {
    .region_bytes = 64 << 20,
    .quantum = 1 << 20,
    .cpu = -1,
};

static uint8_t *region;
static int region_fd = -1;
static int listen_fd;
static int signal_fd;
static struct connection *pool;
static struct connection *free_connections;
static struct connection *turns[MAX_CONNECTIONS];
static int turn_count;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void close_connection(struct connection *c)
{
    close(c->fd);
    c->open = false;
    c->next_free = free_connections;
    free_connections = c;
}

/* ------------------------------------------------------------------------------------------------ connection set-up */

static bool send_mpa_reply(struct connection *c, uint8_t flags, uint8_t revision, uint16_t ird_word, uint16_t ord_word)
{
    uint8_t reply[MPA_HEADER_LENGTH + MPA_ENHANCED_LENGTH];
    uint16_t private_length = flags & MPA_FLAG_ENHANCED ? MPA_ENHANCED_LENGTH : 0;
    memcpy(reply, MPA_REPLY_KEY, MPA_KEY_LENGTH);
    reply[MPA_FLAGS_OFFSET] = flags;
    reply[MPA_REVISION_OFFSET] = revision;
    put16(reply + MPA_PRIVATE_DATA_LENGTH_OFFSET, private_length);
    put16(reply + MPA_IRD_OFFSET, ird_word);
    put16(reply + MPA_ORD_OFFSET, ord_word);
    ssize_t length = MPA_HEADER_LENGTH + private_length;
    return send(c->fd, reply, (size_t)length, 0) == length; /* a new socket has room for 24 bytes */
}

static uint16_t agreed_depth(uint16_t asked)
{
    return asked == MPA_DEPTH_MASK || asked < MAX_DEPTH ? asked : MAX_DEPTH;
}

/* Answers the MPA request frame. A peer that requires markers or CRC is refused with a reject frame. */
static enum outcome start(struct connection *c, const uint8_t *in, uint32_t length, uint32_t *consumed)
{
    uint32_t key_seen = length < MPA_KEY_LENGTH ? length : MPA_KEY_LENGTH;
    if (memcmp(in, MPA_REQUEST_KEY, key_seen) != 0)
        return BROKEN;
    if (length < MPA_HEADER_LENGTH)
        return NEEDS_INPUT;
    uint8_t flags = in[MPA_FLAGS_OFFSET];
    uint8_t revision = in[MPA_REVISION_OFFSET];
    uint16_t private_length = get16(in + MPA_PRIVATE_DATA_LENGTH_OFFSET);
    bool enhanced = revision == 2 && (flags & MPA_FLAG_ENHANCED) != 0;
    if (revision < 1 || revision > 2 || private_length > MPA_MAX_PRIVATE_DATA
        || (enhanced && private_length < MPA_ENHANCED_LENGTH))
        return BROKEN;
    if (length < (uint32_t)MPA_HEADER_LENGTH + private_length)
        return NEEDS_INPUT;

    uint8_t reply_flags = enhanced ? MPA_FLAG_ENHANCED : 0;
    uint16_t ird_word = 0;
    uint16_t ord_word = 0;
    if (enhanced) {
        uint16_t their_ird_word = get16(in + MPA_IRD_OFFSET);
        ird_word = agreed_depth(get16(in + MPA_ORD_OFFSET) & MPA_DEPTH_MASK);
        ord_word = agreed_depth(their_ird_word & MPA_DEPTH_MASK);
        if (their_ird_word & MPA_IRD_PEER_TO_PEER) {
            ird_word |= MPA_IRD_PEER_TO_PEER;
            ord_word |= MPA_ORD_RTR_WRITE; /* the one kind we take, whether asked for or not (RFC 6581 section 9.2) */
        }
    }
    bool refused = (flags & (MPA_FLAG_MARKERS | MPA_FLAG_CRC)) != 0;
    if (refused)
        reply_flags |= MPA_FLAG_REJECT;
    if (!send_mpa_reply(c, reply_flags, revision, ird_word, ord_word) || refused)
        return BROKEN;
    c->established = true;
    *consumed += MPA_HEADER_LENGTH + private_length;
    return NEEDS_INPUT;
}

#ifndef OWN_LOOP

static int epoll_fd;

/* Of the program: a new connection, and what it does until it needs input, room in its socket, or has had its share. */
static void opened(struct connection *c);
static void run(struct connection *c);

/* -------------------------------------------------------------------------------------------- running a connection */

static void take_turn_later(struct connection *c)
{
    c->has_turn = true;
    turns[turn_count++] = c;
}

static void watch(struct connection *c, int operation)
{
    struct epoll_event event = {.data.ptr = c};
    if (common.level_triggered)
        event.events = c->watching_output ? EPOLLOUT : EPOLLIN;
    else
        event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    if (epoll_ctl(epoll_fd, operation, c->fd, &event) != 0)
        fail("epoll_ctl");
}

/* Level triggered epoll must be told what we wait for; edge triggered it reports both, each once. */
static void run_and_watch(struct connection *c)
{
    run(c);
    if (common.level_triggered && c->open && c->watching_output != c->blocked) {
        c->watching_output = c->blocked;
        watch(c, EPOLL_CTL_MOD);
    }
}

static void on_event(struct connection *c, uint32_t events)
{
    if (events & (EPOLLERR | EPOLLHUP)) {
        c->has_turn = false;
        close_connection(c);
        return;
    }
    if (events & EPOLLRDHUP)
        c->peer_finished = true;
    if (events & (EPOLLIN | EPOLLRDHUP))
        c->readable = true;
    if (c->has_turn || (c->blocked && !(events & EPOLLOUT)))
        return;
    run_and_watch(c);
}

/* Runs once each connection that had a turn coming; those that use up their share again queue for the next round. */
static void run_turns(void)
{
    static struct connection *now[MAX_CONNECTIONS];
    int count = turn_count;
    memcpy(now, turns, sizeof turns[0] * (size_t)count);
    turn_count = 0;
    for (int i = 0; i < count; i++) {
        if (now[i]->has_turn)
            run_and_watch(now[i]);
    }
}

static void accept_connections(void)
{
    for (int i = 0; i < 64; i++) {
        int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            return; /* drained, or a connection that died in the queue: the listener is level triggered */
        struct connection *c = free_connections;
        if (c == NULL) {
            close(fd);
            continue;
        }
        free_connections = c->next_free;
        memset(c, 0, offsetof(struct connection, held));
        c->fd = fd;
        c->open = true;
        opened(c);
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        watch(c, EPOLL_CTL_ADD);
    }
}

#else
static void open_loop(void);
static void serve_until_stopped(void);
#endif

/* ---------------------------------------------------------------------------------------------------- the process */

static void open_region(bool as_file)
{
    size_t length = common.region_bytes;
    if (as_file) {
        region_fd = memfd_create("region", MFD_CLOEXEC);
        if (region_fd < 0 || ftruncate(region_fd, (off_t)length) != 0)
            fail("memfd");
        region = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, region_fd, 0);
    } else {
        region = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    }
    if (region == MAP_FAILED)
        fail("mmap region");
    madvise(region, length, MADV_HUGEPAGE);
    for (size_t i = 0; i < length && i < 256; i++)
        region[i] = pattern_at(i);
    for (size_t done = 256; done < length; done *= 2) /* the pattern repeats every 256 bytes */
        memcpy(region + done, region, length - done < done ? length - done : done);
}

static void open_pool(void)
{
    pool = mmap(NULL, sizeof *pool * MAX_CONNECTIONS, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (pool == MAP_FAILED)
        fail("mmap connections");
    for (int i = MAX_CONNECTIONS - 1; i >= 0; i--) {
        pool[i].next_free = free_connections;
        free_connections = &pool[i];
    }
}

static void open_listener(void)
{
    listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (listen_fd < 0)
        fail("socket");
    setsockopt(listen_fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    if (common.sndbuf > 0)
        setsockopt(listen_fd, SOL_SOCKET, SO_SNDBUF, &common.sndbuf, sizeof(int));
    if (common.rcvbuf > 0)
        setsockopt(listen_fd, SOL_SOCKET, SO_RCVBUF, &common.rcvbuf, sizeof(int));
    if (common.congestion != NULL
        && setsockopt(listen_fd, IPPROTO_TCP, TCP_CONGESTION, common.congestion, (socklen_t)strlen(common.congestion)) != 0)
        fail("TCP_CONGESTION");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)common.port)};
    socklen_t length = sizeof address;
    if (bind(listen_fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(listen_fd, LISTEN_BACKLOG) != 0
        || getsockname(listen_fd, (struct sockaddr *)&address, &length) != 0)
        fail("listen");
    common.port = ntohs(address.sin_port);
}

static uint64_t number(const char *name, const char *text, uint64_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || *text == '-' || value > most) {
        fprintf(stderr, "--%s %s: expected a number from 0 to %llu\n", name, text, (unsigned long long)most);
        exit(2);
    }
    return value;
}

/* The rows of getopt_long's table for what take_common takes; programs' own options have other values. */
#define COMMON_OPTIONS \
    {"port", required_argument, NULL, 'p'}, {"region", required_argument, NULL, 'r'}, {"spin", no_argument, NULL, 's'}, \
    {"cpu", required_argument, NULL, 'u'}, {"sndbuf", required_argument, NULL, 'S'}, \
    {"rcvbuf", required_argument, NULL, 'R'}, {"level-triggered", no_argument, NULL, 'l'}, \
    {"quantum", required_argument, NULL, 'q'}, {"congestion", required_argument, NULL, 'C'}
#define COMMON_USAGE \
    "[--port P] [--region BYTES] [--spin] [--cpu N] [--sndbuf N] [--rcvbuf N] [--level-triggered]\n" \
    "  [--quantum N] [--congestion NAME]"

/* Takes an option that all responders have; ends the process if it is none. */
static void take_common(int option, const char *name)
{
    switch (option) {
    case 'p': common.port = (int)number(name, optarg, 65535); break;
    case 'r': common.region_bytes = number(name, optarg, 1ULL << 40); break;
    case 's': common.spin = true; break;
    case 'u': common.cpu = (int)number(name, optarg, CPU_SETSIZE - 1); break;
    case 'S': common.sndbuf = (int)number(name, optarg, INT32_MAX); break;
    case 'R': common.rcvbuf = (int)number(name, optarg, INT32_MAX); break;
    case 'l': common.level_triggered = true; break;
    case 'q': common.quantum = number(name, optarg, UINT32_MAX); break;
    case 'C': common.congestion = optarg; break;
    default: exit(2);
    }
}

/* Ends the process if what is left of the command line, or the options together, make no sense. */
static void check_common(int argc, const char *usage)
{
    if (optind < argc || common.region_bytes == 0 || common.quantum == 0) {
        fputs(usage, stderr);
        exit(2);
    }
}

static int64_t micros(struct timeval now, struct timeval then)
{
    return (int64_t)(now.tv_sec - then.tv_sec) * 1000000 + now.tv_usec - then.tv_usec;
}

#ifndef OWN_LOOP

static void serve_until_stopped(void)
{
    static struct epoll_event events[MAX_EVENTS];
    char ignored[4096];
    for (;;) {
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, common.spin || turn_count > 0 ? 0 : -1);
        if (n < 0 && errno != EINTR)
            fail("epoll_wait");
        for (int i = 0; i < n; i++) {
            void *source = events[i].data.ptr;
            if (source == &listen_fd)
                accept_connections();
            else if (source == &signal_fd)
                return;
            else if (source == NULL) {
                if (read(STDIN_FILENO, ignored, sizeof ignored) <= 0)
                    return;
            } else
                on_event(source, events[i].events);
        }
        if (turn_count > 0)
            run_turns();
    }
}

static void watch_source(int fd, void *source, bool optional)
{
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = source};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0 && !optional)
        fail("epoll_ctl");
}

static void open_loop(void)
{
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0)
        fail("epoll");
    watch_source(listen_fd, &listen_fd, false);
    watch_source(signal_fd, &signal_fd, false);
    watch_source(STDIN_FILENO, NULL, true); /* a file or /dev/null cannot be watched: then only a signal stops us */
}

#endif

/* Serves from now until SIGTERM or the end of stdin; says what CPU time that took. */
static void serve(bool region_as_file, int64_t *user_micros, int64_t *system_micros)
{
    if (common.cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(common.cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            fail("sched_setaffinity");
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigprocmask(SIG_BLOCK, &stops, NULL);
    signal(SIGPIPE, SIG_IGN);

    signal_fd = signalfd(-1, &stops, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signal_fd < 0)
        fail("signalfd");
    open_region(region_as_file);
    open_pool();
    open_listener();
    open_loop();

    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_SELF, &before); /* filling the region is not serving */
    printf("LISTENING %d\n", common.port);
    fflush(stdout);
    serve_until_stopped();
    getrusage(RUSAGE_SELF, &after);
    *user_micros = micros(after.ru_utime, before.ru_utime);
    *system_micros = micros(after.ru_stime, before.ru_stime);
}

#endif
