/*
 * The floor of a round trip: a request and a response over one plain TCP connection, no protocol in between.
 *
 * The sizes are those of a READ: 52 bytes ask, a header of 16, the payload and a trailer of 4 answer, gathered from
 * memory by one writev. Two modes, the same at both ends: spinning receives in a loop, without waiting; blocking waits in
 * epoll_wait and then receives, as an event loop does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { HEADER_LENGTH = 16, TRAILER_LENGTH = 4, OVERHEAD = HEADER_LENGTH + TRAILER_LENGTH };

static struct {
    const char *host;
    const char *port;
    size_t request;
    size_t response;
    size_t iterations;
    size_t warmup;
    bool spin;
    bool json;
    int cpu;
} options = {.host = "127.0.0.1", .port = "0", .request = 52, .response = 1024, .iterations = 100000, .warmup = 10000, .cpu = -1};

static int epoll_fd;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static void *memory(size_t length)
{
    void *p = malloc(length > 0 ? length : 1);
    if (p == NULL)
        fail("malloc");
    memset(p, 'x', length);
    return p;
}

/* Waits in blocking mode; returns at once in spinning mode. */
static void wait_for_input(void)
{
    struct epoll_event event;
    while (!options.spin && epoll_wait(epoll_fd, &event, 1, -1) < 0)
        if (errno != EINTR)
            fail("epoll_wait");
}

/* Waits until a full socket has room. Only large responses come here, so the two extra calls do not matter. */
static void wait_for_room(int fd)
{
    if (options.spin)
        return;
    struct epoll_event output = {.events = EPOLLOUT};
    struct epoll_event input = {.events = EPOLLIN};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &output) != 0)
        fail("epoll_ctl");
    wait_for_input();
    if (epoll_ctl(epoll_fd, EPOLL_CTL_MOD, fd, &input) != 0)
        fail("epoll_ctl");
}

/* Receives exactly `length` bytes; false if the connection ended first. */
static bool receive(int fd, uint8_t *into, size_t length)
{
    for (size_t done = 0; done < length;) {
        wait_for_input();
        ssize_t n = recv(fd, into + done, length - done, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN))
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* Sends all of the vectors, which it uses up, by one writev unless the socket is full; false if the connection ended. */
static bool send_all(int fd, struct iovec *vectors, int count)
{
    for (;;) {
        ssize_t n = writev(fd, vectors, count);
        if (n < 0 && errno != EAGAIN)
            return false;
        size_t sent = n > 0 ? (size_t)n : 0;
        for (; count > 0 && sent >= vectors->iov_len; vectors++, count--)
            sent -= vectors->iov_len;
        if (count == 0)
            return true;
        vectors->iov_base = (uint8_t *)vectors->iov_base + sent;
        vectors->iov_len -= sent;
        wait_for_room(fd);
    }
}

static void prepare(int fd)
{
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    struct epoll_event event = {.events = EPOLLIN};
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, fd, &event) != 0)
        fail("epoll_ctl");
}

static void serve(void)
{
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(options.port))};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 16) != 0
        || getsockname(listener, (struct sockaddr *)&address, &length) != 0)
        fail("listen");
    printf("LISTENING %d\n", ntohs(address.sin_port));
    fflush(stdout);
    uint8_t *request = memory(options.request);
    uint8_t *payload = memory(options.response);
    uint8_t header[HEADER_LENGTH] = {0};
    uint8_t trailer[TRAILER_LENGTH] = {0};
    for (;;) { /* one client after the other */
        int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd < 0)
            fail("accept");
        prepare(fd);
        bool connected = true;
        while (connected && receive(fd, request, options.request)) {
            struct iovec vectors[] = {{header, HEADER_LENGTH}, {payload, options.response}, {trailer, TRAILER_LENGTH}};
            connected = send_all(fd, vectors, 3);
        }
        close(fd);
    }
}

static int connect_to_server(void)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found;
    int error = getaddrinfo(options.host, options.port, &hints, &found);
    if (error != 0) {
        fprintf(stderr, "%s:%s: %s\n", options.host, options.port, gai_strerror(error));
        exit(1);
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        fail("connect");
    freeaddrinfo(found);
    if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0)
        fail("fcntl");
    return fd;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a;
    int64_t y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static void measure(void)
{
    int fd = connect_to_server();
    prepare(fd);
    uint8_t *request = memory(options.request);
    uint8_t *response = memory(options.response + OVERHEAD);
    int64_t *samples = memory(options.iterations * sizeof *samples);
    double sum = 0;
    for (size_t i = 0; i < options.warmup + options.iterations; i++) {
        struct iovec vector = {request, options.request};
        int64_t start = now_ns();
        if (!send_all(fd, &vector, 1) || !receive(fd, response, options.response + OVERHEAD)) {
            fprintf(stderr, "the server closed the connection\n");
            exit(1);
        }
        int64_t took = now_ns() - start;
        if (i >= options.warmup) {
            samples[i - options.warmup] = took;
            sum += (double)took;
        }
    }
    close(fd);
    qsort(samples, options.iterations, sizeof *samples, ascending);
    double median = (double)samples[options.iterations / 2] / 1e3;
    double p99 = (double)samples[options.iterations * 99 / 100] / 1e3;
    double average = sum / (double)options.iterations / 1e3;
    printf(options.json ? "{\"mode\":\"%s\",\"requestBytes\":%zu,\"responseBytes\":%zu,\"iterations\":%zu,"
                          "\"medianMicros\":%.3f,\"p99Micros\":%.3f,\"averageMicros\":%.3f}\n"
                        : "%s, %zu bytes ask, %zu answer, %zu round trips: median %.3f us, p99 %.3f us, average %.3f us\n",
           options.spin ? "spin" : "block", options.request, options.response, options.iterations, median, p99, average);
    free(request);
    free(response);
    free(samples);
}

static size_t number(const char *name, const char *text, size_t least, size_t most)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || end == text || *end != 0 || *text == '-' || value < least || value > most) {
        fprintf(stderr, "--%s %s: expected a number from %zu to %zu\n", name, text, least, most);
        exit(2);
    }
    return (size_t)value;
}

static void usage(void)
{
    fprintf(stderr, "usage: ping_pong server [--port P] [--response BYTES] [--spin|--block] [--cpu N]\n"
                    "       ping_pong client --port P [--host H] [--request 52] [--response BYTES] [--iterations N] [--warmup N]\n"
                    "                        [--spin|--block] [--cpu N] [--json]\n");
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"host", required_argument, NULL, 'h'},       {"port", required_argument, NULL, 'p'},
        {"request", required_argument, NULL, 'q'},    {"response", required_argument, NULL, 'r'},
        {"iterations", required_argument, NULL, 'i'}, {"warmup", required_argument, NULL, 'w'},
        {"spin", no_argument, NULL, 's'},             {"block", no_argument, NULL, 'b'},
        {"cpu", required_argument, NULL, 'u'},        {"json", no_argument, NULL, 'j'},
        {NULL, 0, NULL, 0},
    };
    if (argc < 2 || (strcmp(argv[1], "server") != 0 && strcmp(argv[1], "client") != 0))
        usage();
    bool server = strcmp(argv[1], "server") == 0;
    int index = 0;
    for (int o; (o = getopt_long(argc - 1, argv + 1, "", names, &index)) != -1;) {
        const char *name = names[index].name;
        switch (o) {
        case 'h': options.host = optarg; break;
        case 'p': number(name, optarg, 0, 65535); options.port = optarg; break;
        case 'q': options.request = number(name, optarg, 1, 1 << 30); break;
        case 'r': options.response = number(name, optarg, 0, 1 << 30); break;
        case 'i': options.iterations = number(name, optarg, 1, 1 << 30); break;
        case 'w': options.warmup = number(name, optarg, 0, 1 << 30); break;
        case 's': options.spin = true; break;
        case 'b': options.spin = false; break;
        case 'u': options.cpu = (int)number(name, optarg, 0, CPU_SETSIZE - 1); break;
        case 'j': options.json = true; break;
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
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0)
        fail("epoll_create1");
    if (server)
        serve();
    else
        measure();
    return 0;
}
