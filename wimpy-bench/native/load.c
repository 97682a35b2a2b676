/*
 * A load generator for read_responder: keeps `window` READs outstanding on each of its connections (closed loop), checks
 * the framing of every response and the content of a sample, and says what the server's thread spent per READ.
 *
 * One thread, edge triggered epoll, the mirror image of the responder: one recv into a shared buffer, then one send for
 * all the requests that the finished responses made room for. It prints one JSON line. CPU per READ is the difference of
 * /proc/PID/schedstat (ns) over the measured seconds, for the one thread of that process.
 */
#define _GNU_SOURCE
#include "iwarp.h"

#include <arpa/inet.h>
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { MAX_WINDOW = 1024, RECEIVE_CAPACITY = 256 * 1024, MAX_EVENTS = 256, PRIVATE_ORD = 1024 };

/* Where in a response the next received byte belongs. */
enum part { HEADER, PAYLOAD, TRAILER };

struct connection {
    int fd;
    enum part part;
    uint32_t part_done;      /* bytes of that part that have come */
    uint32_t payload;        /* of the current segment */
    uint32_t message_done;   /* payload of the current READ in earlier segments */
    bool last_segment;
    bool checked;            /* the content of this READ is compared */
    uint32_t msn;
    uint32_t oldest;         /* ring index of the READ being answered */
    uint32_t to_send;        /* requests that may be posted */
    uint32_t unsent;         /* bytes of `out` that the socket did not take */
    bool writable;
    uint64_t source[MAX_WINDOW];
    uint8_t header[TAGGED_HEADER_LENGTH];
    uint8_t out[MAX_WINDOW * READ_REQUEST_LENGTH];
};

static struct {
    const char *host;
    int port;
    uint32_t connections;
    uint32_t window;
    uint32_t size;
    uint64_t region_bytes;
    double seconds;
    double warmup;
    uint32_t verify_every;
    int cpu;
    int server_pid;
    int server_cpu;
    bool spin;
} options = {
    .host = "127.0.0.1", .connections = 8, .window = 1, .size = 1024, .region_bytes = 64 << 20,
    .seconds = 2, .warmup = 0.5, .verify_every = 64, .cpu = -1, .server_cpu = -1,
};

static int epoll_fd;
static uint64_t reads;
static uint64_t verified;
static uint64_t random_state = 0x9E3779B97F4A7C15;
static uint8_t expected[SEGMENT_PAYLOAD_MAX + 256]; /* the pattern, from a multiple of 256 */

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void wrong(const char *what)
{
    fprintf(stderr, "wrong response: %s (after %llu READs)\n", what, (unsigned long long)reads);
    exit(1);
}

static double now_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* A place for a READ: anywhere in the region, at a multiple of 64 (xorshift64). */
static uint64_t next_source(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    uint64_t places = (options.region_bytes - options.size) / 64 + 1;
    return random_state % places * 64;
}

static void write_request(struct connection *c, uint8_t *at)
{
    uint32_t slot = c->msn % options.window;
    uint64_t source = next_source();
    c->source[slot] = source;
    c->msn++;
    memset(at, 0, READ_REQUEST_LENGTH);
    put16(at, READ_REQUEST_ULPDU_LENGTH);
    at[DDP_CONTROL_OFFSET] = DDP_UNTAGGED_LAST;
    at[RDMAP_CONTROL_OFFSET] = RDMAP_READ_REQUEST;
    put32(at + READ_QUEUE_NUMBER_OFFSET, READ_QUEUE_NUMBER);
    put32(at + READ_MSN_OFFSET, c->msn);
    put32(at + READ_SINK_STAG_OFFSET, slot + 1);
    put64(at + READ_SINK_TO_OFFSET, (uint64_t)slot * options.size);
    put32(at + READ_SIZE_OFFSET, options.size);
    put32(at + READ_SOURCE_STAG_OFFSET, 0x1234);
    put64(at + READ_SOURCE_TO_OFFSET, source);
}

static void post(struct connection *c)
{
    for (; c->to_send > 0; c->to_send--) {
        write_request(c, c->out + c->unsent);
        c->unsent += READ_REQUEST_LENGTH;
    }
    if (c->unsent == 0 || !c->writable)
        return;
    ssize_t n = send(c->fd, c->out, c->unsent, 0);
    if (n < 0 && errno != EAGAIN)
        fail("send");
    n = n < 0 ? 0 : n;
    c->unsent -= (uint32_t)n;
    memmove(c->out, c->out + n, c->unsent);
    c->writable = c->unsent == 0;
}

static void check_header(struct connection *c)
{
    const uint8_t *h = c->header;
    uint32_t slot = c->oldest % options.window;
    if (h[RDMAP_CONTROL_OFFSET] != RDMAP_READ_RESPONSE)
        wrong("not a READ response");
    if (h[DDP_CONTROL_OFFSET] != DDP_TAGGED && h[DDP_CONTROL_OFFSET] != DDP_TAGGED_LAST)
        wrong("DDP control");
    if (get16(h) < TAGGED_ULPDU_OVERHEAD)
        wrong("ULPDU length");
    c->payload = (uint32_t)get16(h) - TAGGED_ULPDU_OVERHEAD;
    c->last_segment = h[DDP_CONTROL_OFFSET] == DDP_TAGGED_LAST;
    if (get32(h + TAGGED_STAG_OFFSET) != slot + 1)
        wrong("sink STag");
    if (get64(h + TAGGED_TO_OFFSET) != (uint64_t)slot * options.size + c->message_done)
        wrong("sink tagged offset");
    uint64_t after = (uint64_t)c->message_done + c->payload;
    if (after > options.size || c->last_segment != (after == options.size))
        wrong("length");
}

static void check_payload(const struct connection *c, const uint8_t *at, uint32_t length)
{
    uint64_t from = c->source[c->oldest % options.window] + c->message_done + c->part_done;
    if (memcmp(at, expected + from % 256, length) != 0)
        wrong("content");
}

static void finish_segment(struct connection *c)
{
    c->part = HEADER;
    c->message_done += c->payload;
    if (!c->last_segment)
        return;
    c->message_done = 0;
    c->oldest++;
    c->to_send++;
    reads++;
    verified += c->checked;
    c->checked = options.verify_every > 0 && reads % options.verify_every == 0;
}

/* Takes the next bytes of the stream of responses. */
static void take(struct connection *c, const uint8_t *at, uint32_t length)
{
    while (length > 0) {
        uint32_t whole = c->part == HEADER ? TAGGED_HEADER_LENGTH
                       : c->part == PAYLOAD ? c->payload : padding_of(c->payload) + FPDU_CRC_LENGTH;
        uint32_t n = whole - c->part_done < length ? whole - c->part_done : length;
        if (c->part == HEADER)
            memcpy(c->header + c->part_done, at, n);
        else if (c->part == PAYLOAD && c->checked)
            check_payload(c, at, n);
        c->part_done += n;
        at += n;
        length -= n;
        if (c->part_done < whole)
            return;
        c->part_done = 0;
        if (c->part == HEADER) {
            check_header(c);
            c->part = c->payload > 0 ? PAYLOAD : TRAILER;
        } else if (c->part == PAYLOAD)
            c->part = TRAILER;
        else
            finish_segment(c);
    }
}

static void on_event(struct connection *c, uint32_t events)
{
    static uint8_t in[RECEIVE_CAPACITY];
    if (events & EPOLLOUT)
        c->writable = true;
    if (events & ~(uint32_t)EPOLLOUT) {
        ssize_t n;
        do {
            n = recv(c->fd, in, sizeof in, 0);
            if (n == 0 || (n < 0 && errno != EAGAIN))
                wrong("the server closed the connection");
            if (n > 0)
                take(c, in, (uint32_t)n);
            post(c);
        } while (n == sizeof in);
    } else
        post(c);
}

static void transfer(int fd, uint8_t *at, size_t length, bool sending)
{
    for (size_t done = 0; done < length;) {
        ssize_t n = sending ? send(fd, at + done, length - done, 0) : recv(fd, at + done, length - done, 0);
        if (n <= 0)
            fail("MPA start-up");
        done += (size_t)n;
    }
}

/* Connects and starts MPA revision 2 in peer-to-peer mode, so the first FPDU is the RTR. */
static void open_connection(struct connection *c)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port)};
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (inet_pton(AF_INET, options.host, &address.sin_addr) != 1) {
        fprintf(stderr, "--host %s: expected an IPv4 address\n", options.host);
        exit(2);
    }
    if (c->fd < 0 || connect(c->fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("connect");
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));

    uint8_t frame[MPA_HEADER_LENGTH + MPA_ENHANCED_LENGTH] = {0};
    memcpy(frame, MPA_REQUEST_KEY, MPA_KEY_LENGTH);
    frame[MPA_FLAGS_OFFSET] = MPA_FLAG_ENHANCED;
    frame[MPA_REVISION_OFFSET] = 2;
    put16(frame + MPA_PRIVATE_DATA_LENGTH_OFFSET, MPA_ENHANCED_LENGTH);
    put16(frame + MPA_IRD_OFFSET, MPA_IRD_PEER_TO_PEER);
    put16(frame + MPA_ORD_OFFSET, MPA_ORD_RTR_WRITE | PRIVATE_ORD);
    transfer(c->fd, frame, sizeof frame, true);
    transfer(c->fd, frame, sizeof frame, false);
    if (memcmp(frame, MPA_REPLY_KEY, MPA_KEY_LENGTH) != 0 || frame[MPA_FLAGS_OFFSET] != MPA_FLAG_ENHANCED
        || !(get16(frame + MPA_ORD_OFFSET) & MPA_ORD_RTR_WRITE)
        || (get16(frame + MPA_IRD_OFFSET) & MPA_DEPTH_MASK) < options.window)
        wrong("MPA reply");
    uint8_t rtr[RTR_WRITE_LENGTH] = {0, TAGGED_ULPDU_OVERHEAD, DDP_TAGGED_LAST, RDMAP_WRITE};
    transfer(c->fd, rtr, sizeof rtr, true);

    if (fcntl(c->fd, F_SETFL, O_NONBLOCK) != 0)
        fail("fcntl");
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = c};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, c->fd, &event) != 0)
        fail("epoll_ctl");
    c->to_send = options.window;
}

static void run_until(double end)
{
    static struct epoll_event events[MAX_EVENTS];
    for (unsigned rounds = 0; rounds % 64 != 0 || now_seconds() < end; rounds++) {
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, options.spin ? 0 : 100);
        for (int i = 0; i < n; i++)
            on_event(events[i].data.ptr, events[i].events);
    }
}

/* Nanoseconds on a CPU of the process's first thread. */
static uint64_t thread_ns(int pid)
{
    char path[64];
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/%d/schedstat", pid);
    FILE *f = fopen(path, "r");
    if (f == NULL || fscanf(f, "%llu", &ns) != 1)
        fail(path);
    fclose(f);
    return ns;
}

/* Micros of everything but idle and iowait on a CPU since boot, in steps of a clock tick. */
static double busy_micros(int cpu)
{
    char line[512];
    char name[32];
    double busy = 0;
    FILE *f = fopen("/proc/stat", "r");
    if (f == NULL)
        fail("/proc/stat");
    snprintf(name, sizeof name, "cpu%d ", cpu);
    while (fgets(line, sizeof line, f) != NULL) {
        unsigned long long v[8];
        if (strncmp(line, name, strlen(name)) == 0
            && sscanf(line + strlen(name), "%llu %llu %llu %llu %llu %llu %llu %llu", v, v + 1, v + 2, v + 3, v + 4, v + 5, v + 6, v + 7) == 8)
            busy = (double)(v[0] + v[1] + v[2] + v[5] + v[6]) * 1e6 / (double)sysconf(_SC_CLK_TCK);
    }
    fclose(f);
    return busy;
}

static double number(const char *name, const char *text, double least, double most)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != 0 || !(value >= least && value <= most)) {
        fprintf(stderr, "--%s %s: expected a number from %.0f to %.0f\n", name, text, least, most);
        exit(2);
    }
    return value;
}

static void parse(int argc, char **argv)
{
    static const struct option names[] = {
        {"host", required_argument, NULL, 'h'},         {"port", required_argument, NULL, 'p'},
        {"connections", required_argument, NULL, 'c'},  {"window", required_argument, NULL, 'w'},
        {"size", required_argument, NULL, 's'},         {"region", required_argument, NULL, 'r'},
        {"seconds", required_argument, NULL, 't'},      {"warmup", required_argument, NULL, 'W'},
        {"verify-every", required_argument, NULL, 'v'}, {"cpu", required_argument, NULL, 'u'},
        {"server-pid", required_argument, NULL, 'P'},   {"server-cpu", required_argument, NULL, 'U'},
        {"spin", no_argument, NULL, 'S'},               {NULL, 0, NULL, 0},
    };
    int index = 0;
    for (int o; (o = getopt_long(argc, argv, "", names, &index)) != -1;) {
        const char *name = names[index].name;
        switch (o) {
        case 'h': options.host = optarg; break;
        case 'p': options.port = (int)number(name, optarg, 1, 65535); break;
        case 'c': options.connections = (uint32_t)number(name, optarg, 1, 65536); break;
        case 'w': options.window = (uint32_t)number(name, optarg, 1, MAX_WINDOW); break;
        case 's': options.size = (uint32_t)number(name, optarg, 0, UINT32_MAX); break;
        case 'r': options.region_bytes = (uint64_t)number(name, optarg, 1, 1e15); break;
        case 't': options.seconds = number(name, optarg, 0, 1e6); break;
        case 'W': options.warmup = number(name, optarg, 0, 1e6); break;
        case 'v': options.verify_every = (uint32_t)number(name, optarg, 0, UINT32_MAX); break;
        case 'u': options.cpu = (int)number(name, optarg, 0, CPU_SETSIZE - 1); break;
        case 'P': options.server_pid = (int)number(name, optarg, 1, INT32_MAX); break;
        case 'U': options.server_cpu = (int)number(name, optarg, 0, CPU_SETSIZE - 1); break;
        case 'S': options.spin = true; break;
        default: exit(2);
        }
    }
    if (optind < argc || options.port == 0 || options.size > options.region_bytes) {
        fprintf(stderr, "usage: load --port P [--host IPV4] [--connections N] [--window N] [--size BYTES] [--region BYTES]\n"
                        "  [--seconds S] [--warmup S] [--verify-every N] [--cpu N] [--server-pid PID] [--server-cpu N] [--spin]\n");
        exit(2);
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    if (options.cpu >= 0) {
        cpu_set_t set;
        CPU_ZERO(&set);
        CPU_SET(options.cpu, &set);
        if (sched_setaffinity(0, sizeof set, &set) != 0)
            fail("sched_setaffinity");
    }
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof expected; i++)
        expected[i] = pattern_at(i);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    struct connection *connections = calloc(options.connections, sizeof *connections);
    if (epoll_fd < 0 || connections == NULL)
        fail("set-up");
    for (uint32_t i = 0; i < options.connections; i++)
        open_connection(&connections[i]);

    double start = now_seconds();
    run_until(start + options.warmup);
    uint64_t reads_before = reads;
    uint64_t server_before = options.server_pid > 0 ? thread_ns(options.server_pid) : 0;
    uint64_t own_before = thread_ns(getpid());
    double core_before = options.server_cpu >= 0 ? busy_micros(options.server_cpu) : 0;
    start = now_seconds();
    run_until(start + options.seconds);
    double took = now_seconds() - start;
    uint64_t done = reads - reads_before;
    double per_read = done > 0 ? (double)done : 1;
    printf("{\"connections\":%u,\"window\":%u,\"valueBytes\":%u,\"reads\":%llu,\"seconds\":%.3f,\"readsPerSecond\":%.0f,"
           "\"verified\":%llu,\"clientCpuMicrosPerRead\":%.3f", options.connections, options.window, options.size,
           (unsigned long long)done, took, (double)done / took, (unsigned long long)verified,
           (double)(thread_ns(getpid()) - own_before) / 1e3 / per_read);
    if (options.server_pid > 0)
        printf(",\"serverCpuMicrosPerRead\":%.3f", (double)(thread_ns(options.server_pid) - server_before) / 1e3 / per_read);
    if (options.server_cpu >= 0)
        printf(",\"serverCoreMicrosPerRead\":%.3f", (busy_micros(options.server_cpu) - core_before) / per_read);
    printf("}\n");
    return fflush(stdout) == 0 ? 0 : 1;
}
