/*
 * The floor of READs in both directions at once: two ends of one TCP connection, each of which keeps a window of READs of
 * the other's memory outstanding and answers the other's, in the frames of iwarp.h and without the MPA start-up.
 *
 * One thread at each end. The rest of a large payload is received by readv straight into its place, with the bytes behind
 * it; requests and answers go by one writev per batch of at most 256 KiB, payloads gathered from where they are. As
 * perftest does, every READ has the same source and the same sink.
 */
#define _GNU_SOURCE
#include "iwarp.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_WINDOW = 1024,
    RECEIVE_CAPACITY = 64 * 1024,
    LARGE = 16 * 1024,  /* a payload with so much left is received straight into its place */
    BEHIND = 2 * 1024,  /* received at once with a large payload, or before the next */
    BATCH_BYTES = 256 * 1024,
    TURN_BYTES = 1024 * 1024,
    MAX_VECTORS = 512,
    STAGING_CAPACITY = MAX_WINDOW * (READ_REQUEST_LENGTH + 2 * (TAGGED_HEADER_LENGTH + FPDU_CRC_LENGTH + 3)),
};

static struct {
    const char *port;
    uint32_t size;
    uint32_t window;
    uint32_t millis;
    uint32_t warmup;
    int cpu;
    bool spin;
} options = {.port = "0", .size = 64 * 1024, .window = 16, .millis = 1000, .warmup = 200, .cpu = -1};

static int epoll_fd;
static uint8_t *source;
static uint8_t *sink;

static struct {
    int fd;
    bool readable;
    bool watching_output;
    /* receiving */
    uint8_t in[RECEIVE_CAPACITY];
    uint32_t held;
    uint32_t payload_left;
    uint32_t trailer_left;
    uint32_t message_done; /* payload of the current READ that has come */
    bool last_segment;
    /* sending */
    uint32_t to_request;
    uint32_t to_answer;
    uint32_t answered;     /* payload of the current answer that is in batches */
    uint32_t msn;
    struct iovec vectors[MAX_VECTORS];
    int first;
    int count;
    uint8_t staging[STAGING_CAPACITY];
    uint32_t staged;
    /* figures */
    uint64_t reads;
    uint64_t served;
} c;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void wrong(const char *what)
{
    fprintf(stderr, "wrong: %s (after %llu READs)\n", what, (unsigned long long)c.reads);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---------------------------------------------------------------------------------------------------------- sending */

static void append(void *at, uint32_t length)
{
    struct iovec *last = &c.vectors[c.count - 1];
    if (c.count > 0 && (uint8_t *)last->iov_base + last->iov_len == at)
        last->iov_len += length;
    else if (length > 0)
        c.vectors[c.count++] = (struct iovec){at, length};
}

static uint8_t *stage(uint32_t length)
{
    uint8_t *at = c.staging + c.staged;
    c.staged += length;
    return at;
}

static uint32_t add_request(void)
{
    uint8_t *at = stage(READ_REQUEST_LENGTH);
    memset(at, 0, READ_REQUEST_LENGTH);
    put16(at, READ_REQUEST_ULPDU_LENGTH);
    at[DDP_CONTROL_OFFSET] = DDP_UNTAGGED_LAST;
    at[RDMAP_CONTROL_OFFSET] = RDMAP_READ_REQUEST;
    put32(at + READ_QUEUE_NUMBER_OFFSET, READ_QUEUE_NUMBER);
    put32(at + READ_MSN_OFFSET, ++c.msn);
    put32(at + READ_SIZE_OFFSET, options.size);
    append(at, READ_REQUEST_LENGTH);
    c.to_request--;
    return READ_REQUEST_LENGTH;
}

static uint32_t add_segment(void)
{
    uint32_t rest = options.size - c.answered;
    uint32_t payload = rest < SEGMENT_PAYLOAD_MAX ? rest : SEGMENT_PAYLOAD_MAX;
    uint32_t trailer = padding_of(payload) + FPDU_CRC_LENGTH;
    uint8_t *header = stage(TAGGED_HEADER_LENGTH);
    put16(header, (uint16_t)(TAGGED_ULPDU_OVERHEAD + payload));
    header[DDP_CONTROL_OFFSET] = payload == rest ? DDP_TAGGED_LAST : DDP_TAGGED;
    header[RDMAP_CONTROL_OFFSET] = RDMAP_READ_RESPONSE;
    put32(header + TAGGED_STAG_OFFSET, 1);
    put64(header + TAGGED_TO_OFFSET, c.answered);
    append(header, TAGGED_HEADER_LENGTH);
    append(source + c.answered, payload);
    append(memset(stage(trailer), 0, trailer), trailer);
    c.answered += payload;
    if (c.answered == options.size) {
        c.answered = 0;
        c.to_answer--;
        c.served++;
    }
    return TAGGED_HEADER_LENGTH + payload + trailer;
}

static void build(void)
{
    uint32_t length = 0;
    c.first = 0;
    c.count = 0;
    c.staged = 0;
    while (c.to_request > 0 && c.answered == 0)
        length += add_request();
    while (c.to_answer > 0 && length < BATCH_BYTES && c.count + 3 <= MAX_VECTORS)
        length += add_segment();
}

static void watch(bool output)
{
    if (c.watching_output == output)
        return;
    struct epoll_event event = {.events = EPOLLIN | (output ? EPOLLOUT : 0)};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, c.fd, &event) != 0)
        fail("epoll_ctl");
    c.watching_output = output;
}

/* Sends until there is nothing to send or the socket is full; false if the connection has ended. */
static bool send_all(void)
{
    for (;;) {
        if (c.first == c.count)
            build();
        if (c.count == 0) {
            watch(false);
            return true;
        }
        ssize_t n = writev(c.fd, c.vectors + c.first, c.count - c.first);
        if (n < 0 && errno != EAGAIN)
            return false;
        size_t sent = n > 0 ? (size_t)n : 0;
        for (; c.first < c.count && sent >= c.vectors[c.first].iov_len; c.first++)
            sent -= c.vectors[c.first].iov_len;
        if (c.first < c.count) {
            struct iovec *next = &c.vectors[c.first];
            next->iov_base = (uint8_t *)next->iov_base + sent;
            next->iov_len -= sent;
            watch(true);
            return true;
        }
    }
}

/* -------------------------------------------------------------------------------------------------------- receiving */

static void end_segment(void)
{
    if (!c.last_segment)
        return;
    if (c.message_done != options.size)
        wrong("the length of an answer");
    c.message_done = 0;
    c.reads++;
    c.to_request++;
}

/* Begins the segment at a position; the bytes of its header, or 0 if it is not all there. */
static uint32_t begin_segment(const uint8_t *at, uint32_t available)
{
    if (available < TAGGED_HEADER_LENGTH)
        return 0;
    if (at[RDMAP_CONTROL_OFFSET] == RDMAP_READ_REQUEST) {
        if (available < READ_REQUEST_LENGTH)
            return 0;
        if (get16(at) != READ_REQUEST_ULPDU_LENGTH || get32(at + READ_SIZE_OFFSET) != options.size)
            wrong("a request");
        c.to_answer++;
        return READ_REQUEST_LENGTH;
    }
    if (at[RDMAP_CONTROL_OFFSET] != RDMAP_READ_RESPONSE || get64(at + TAGGED_TO_OFFSET) != c.message_done)
        wrong("an answer");
    c.payload_left = (uint32_t)get16(at) - TAGGED_ULPDU_OVERHEAD;
    if (c.payload_left > options.size - c.message_done)
        wrong("the length of a segment");
    c.trailer_left = padding_of(c.payload_left) + FPDU_CRC_LENGTH;
    c.last_segment = at[DDP_CONTROL_OFFSET] == DDP_TAGGED_LAST;
    return TAGGED_HEADER_LENGTH;
}

static void placed(uint32_t length)
{
    c.payload_left -= length;
    c.message_done += length;
}

/* Takes the bytes in the buffer; keeps the part of a header at their end. */
static void consume(uint32_t length)
{
    uint32_t at = 0;
    while (at < length) {
        uint32_t left = length - at;
        if (c.payload_left > 0) {
            uint32_t here = left < c.payload_left ? left : c.payload_left;
            memcpy(sink + c.message_done, c.in + at, here);
            placed(here);
            at += here;
        } else if (c.trailer_left > 0) {
            uint32_t here = left < c.trailer_left ? left : c.trailer_left;
            c.trailer_left -= here;
            at += here;
            if (c.trailer_left == 0)
                end_segment();
        } else {
            uint32_t header = begin_segment(c.in + at, left);
            if (header == 0)
                break;
            at += header;
        }
    }
    c.held = length - at;
    memmove(c.in, c.in + at, c.held);
}

/* Receives for a turn; false if the connection has ended. */
static bool receive_turn(void)
{
    for (uint64_t turn = 0; turn < TURN_BYTES;) {
        uint32_t straight = c.payload_left >= LARGE ? c.payload_left : 0;
        uint32_t room = (options.size >= LARGE ? BEHIND : RECEIVE_CAPACITY) - c.held;
        struct iovec vectors[] = {{sink + c.message_done, straight}, {c.in + c.held, room}};
        ssize_t n = straight > 0 ? readv(c.fd, vectors, 2) : recv(c.fd, c.in + c.held, room, 0);
        if (n < 0 && errno == EAGAIN) {
            c.readable = false;
            return true;
        }
        if (n <= 0)
            return false;
        uint32_t in_place = (size_t)n < straight ? (uint32_t)n : straight;
        placed(in_place);
        consume(c.held + (uint32_t)n - in_place);
        turn += (uint64_t)n;
        if ((size_t)n < straight + (size_t)room) {
            c.readable = false;
            return true;
        }
    }
    return true;
}

/* Runs until a time, or until the other end closes (then false). */
static bool run_until(int64_t end_ns)
{
    for (unsigned rounds = 0; end_ns == 0 || rounds % 16 != 0 || now_ns() < end_ns; rounds++) {
        struct epoll_event event;
        int n = epoll_wait(epoll_fd, &event, 1, options.spin || c.readable ? 0 : 100);
        if (n < 0 && errno != EINTR)
            fail("epoll_wait");
        c.readable |= n > 0 && (event.events & ~(uint32_t)EPOLLOUT) != 0;
        if (c.readable && !receive_turn())
            return false;
        if (!send_all())
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------ the process */

static void begin(int fd)
{
    memset(&c, 0, sizeof c);
    c.fd = fd;
    c.to_request = options.window;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    struct epoll_event event = {.events = EPOLLIN};
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("set-up");
}

static void serve(void)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(options.port)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        fail("listen");
    printf("LISTENING %d\n", ntohs(address.sin_port));
    fflush(stdout);
    for (;;) { /* one client after the other */
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            fail("accept");
        begin(fd);
        while (run_until(0))
            continue;
        close(fd);
    }
}

static void measure(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(options.port)),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    begin(fd);
    int64_t start = now_ns();
    if (!run_until(start + (int64_t)options.warmup * 1000000))
        wrong("the server closed the connection");
    start = now_ns();
    uint64_t reads = c.reads;
    uint64_t served = c.served;
    if (!run_until(start + (int64_t)options.millis * 1000000))
        wrong("the server closed the connection");
    double seconds = (double)(now_ns() - start) / 1e9;
    if (memcmp(sink, source, options.size) != 0)
        wrong("content");
    printf("{\"valueBytes\":%u,\"window\":%u,\"seconds\":%.3f,\"readsPerSecond\":%.0f,\"servedPerSecond\":%.0f}\n", options.size,
           options.window, seconds, (double)(c.reads - reads) / seconds, (double)(c.served - served) / seconds);
}

static uint32_t number(const char *name, const char *text, uint32_t least, uint32_t most)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || *text == '-' || value < least || value > most) {
        fprintf(stderr, "--%s %s: expected a number from %u to %u\n", name, text, least, most);
        exit(2);
    }
    return (uint32_t)value;
}

static void usage(void)
{
    fprintf(stderr, "usage: read_exchange server [--port P] [--size BYTES] [--window N] [--spin] [--cpu N]\n"
                    "       read_exchange client --port P [--size BYTES] [--window N] [--millis N] [--warmup N] [--spin] [--cpu N]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"port", required_argument, NULL, 'p'},   {"size", required_argument, NULL, 's'},
        {"window", required_argument, NULL, 'w'}, {"millis", required_argument, NULL, 'm'},
        {"warmup", required_argument, NULL, 'W'}, {"cpu", required_argument, NULL, 'u'},
        {"spin", no_argument, NULL, 'S'},         {NULL, 0, NULL, 0},
    };
    if (argc < 2 || (strcmp(argv[1], "server") != 0 && strcmp(argv[1], "client") != 0))
        usage();
    bool server = strcmp(argv[1], "server") == 0;
    int index = 0;
    for (int o; (o = getopt_long(argc - 1, argv + 1, "", names, &index)) != -1;) {
        const char *name = names[index].name;
        switch (o) {
        case 'p': number(name, optarg, 0, 65535); options.port = optarg; break;
        case 's': options.size = number(name, optarg, 1, 1 << 30); break;
        case 'w': options.window = number(name, optarg, 1, MAX_WINDOW); break;
        case 'm': options.millis = number(name, optarg, 1, 1 << 30); break;
        case 'W': options.warmup = number(name, optarg, 0, 1 << 30); break;
        case 'u': options.cpu = (int)number(name, optarg, 0, CPU_SETSIZE - 1); break;
        case 'S': options.spin = true; break;
        default: usage();
        }
    }
    if (optind < argc - 1)
        usage();
    if (options.cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(options.cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            fail("sched_setaffinity");
    }
    signal(SIGPIPE, SIG_IGN);
    source = mmap(NULL, options.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    sink = mmap(NULL, options.size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (source == MAP_FAILED || sink == MAP_FAILED || epoll_fd < 0)
        fail("set-up");
    for (uint32_t i = 0; i < options.size; i++)
        source[i] = pattern_at(i);
    if (server)
        serve();
    else
        measure();
    return 0;
}
