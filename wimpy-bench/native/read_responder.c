/*
 * The C yardstick: the cheapest responder for RDMA READs over TCP that we know how to write with epoll, answering the
 * frames of iwarp.h. The Java engine is compared with it in one run, driven by the same client.
 *
 * One thread. A batch is one recv, then one send for all the requests it brought. No response is ever buffered: when the
 * socket takes less than a batch, the connection keeps the unanswered requests and how far into the first of them it
 * got, stops reading, and rebuilds the rest from the region when there is room again. So a connection costs at most its
 * `held` bytes, however much its peer asks for and however little it reads.
 *
 * Measured and rejected variants stay as options; README.md has the figures.
 */
#define _GNU_SOURCE
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
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum {
    MAX_CONNECTIONS = 4096,
    RECEIVE_CAPACITY = 16 * 1024, /* 315 requests */
    STAGING_CAPACITY = 256 * 1024,
    MAX_VECTORS = 1024, /* UIO_MAXIOV */
    MAX_EVENTS = 256,
    MAX_DEPTH = 1024, /* the most outstanding READs per connection we agree to */
    LISTEN_BACKLOG = 4096,
};

enum outcome { NEEDS_INPUT, NEEDS_ROOM, NEEDS_TURN, BROKEN };

struct connection {
    int fd;
    bool open;
    bool established;       /* MPA start-up is over */
    bool readable;          /* the socket may hold bytes we have not received */
    bool peer_finished;     /* a FIN is behind the bytes, so a short read does not mean drained */
    bool blocked;           /* the socket took less than a batch: wait for EPOLLOUT and do not read */
    bool has_turn;          /* in `turns`: complete requests are held, others go first */
    bool watching_output;   /* level triggered only: what epoll is asked for */
    uint32_t next_msn;
    uint32_t held_length;
    uint64_t sent;          /* bytes of the first held request's response that are out */
    struct connection *next_free;
    uint8_t held[RECEIVE_CAPACITY];
};

static struct {
    int port;
    uint64_t region_bytes;
    uint32_t copy_below;
    uint64_t sendfile_above;
    uint64_t quantum;
    bool spin;
    bool level_triggered;
    int cpu;
    int sndbuf;
    int rcvbuf;
    const char *congestion;
} options = {
    .region_bytes = 64 << 20,
    .copy_below = 4096,
    .sendfile_above = UINT64_MAX,
    .quantum = 1 << 20,
    .cpu = -1,
};

static uint8_t *region;
static int region_fd = -1;
static int epoll_fd;
static int listen_fd;
static int signal_fd;
static struct connection *pool;
static struct connection *free_connections;
static struct connection *turns[MAX_CONNECTIONS];
static int turn_count;
static uint64_t reads;
static uint64_t bytes;

/* The batch being built: vectors that point into `staging` (headers, trailers, small payloads) and into the region. */
static struct iovec vectors[MAX_VECTORS];
static int vector_count;
static uint8_t staging[STAGING_CAPACITY];
static uint32_t staged;
static uint64_t batch_length;
static bool batch_has_file_payload; /* a payload that --sendfile-above applies to */

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

/* ------------------------------------------------------------------------------------------------ building a batch */

static void append_vector(uint8_t *at, uint32_t length)
{
    if (length == 0)
        return;
    batch_length += length;
    if (vector_count > 0) {
        struct iovec *last = &vectors[vector_count - 1];
        if ((uint8_t *)last->iov_base + last->iov_len == at) {
            last->iov_len += length;
            return;
        }
    }
    vectors[vector_count++] = (struct iovec){at, length};
}

/* Appends a segment without its first `skip` bytes, which are out already. */
static void append_segment(const uint8_t *request, uint32_t segment, uint32_t payload, bool last, uint32_t skip)
{
    uint64_t offset = (uint64_t)segment * SEGMENT_PAYLOAD_MAX;
    uint8_t *header = staging + staged;
    put16(header, (uint16_t)(TAGGED_ULPDU_OVERHEAD + payload));
    header[DDP_CONTROL_OFFSET] = last ? DDP_TAGGED_LAST : DDP_TAGGED;
    header[RDMAP_CONTROL_OFFSET] = RDMAP_READ_RESPONSE;
    memcpy(header + TAGGED_STAG_OFFSET, request + READ_SINK_STAG_OFFSET, 4);
    put64(header + TAGGED_TO_OFFSET, get64(request + READ_SINK_TO_OFFSET) + offset);
    staged += TAGGED_HEADER_LENGTH;

    uint32_t header_skip = skip < TAGGED_HEADER_LENGTH ? skip : TAGGED_HEADER_LENGTH;
    append_vector(header + header_skip, TAGGED_HEADER_LENGTH - header_skip);
    skip -= header_skip;

    uint32_t payload_skip = skip < payload ? skip : payload;
    uint8_t *source = region + get64(request + READ_SOURCE_TO_OFFSET) + offset + payload_skip;
    uint32_t wanted = payload - payload_skip;
    skip -= payload_skip;
    if (payload < options.copy_below) {
        memcpy(staging + staged, source, wanted);
        source = staging + staged;
        staged += wanted;
    } else if (wanted >= options.sendfile_above)
        batch_has_file_payload = true;
    append_vector(source, wanted);

    uint32_t trailer = padding_of(payload) + FPDU_CRC_LENGTH;
    memset(staging + staged, 0, trailer);
    append_vector(staging + staged, trailer - skip);
    staged += trailer - skip;
}

static bool has_room_for(uint32_t payload)
{
    uint32_t copied = payload < options.copy_below ? payload : 0;
    return batch_length < options.quantum && vector_count + 3 <= MAX_VECTORS
        && staged + TAGGED_HEADER_LENGTH + copied + 3 + FPDU_CRC_LENGTH <= STAGING_CAPACITY;
}

/* Appends a response without its first `skip` bytes; false if the batch was full before its end. */
static bool append_response(const uint8_t *request, uint64_t skip)
{
    uint32_t size = get32(request + READ_SIZE_OFFSET);
    uint32_t segment = (uint32_t)(skip / SEGMENT_WIRE_MAX);
    uint32_t segment_skip = (uint32_t)(skip % SEGMENT_WIRE_MAX);
    for (;;) {
        uint32_t rest = size - segment * SEGMENT_PAYLOAD_MAX;
        bool last = rest <= SEGMENT_PAYLOAD_MAX;
        uint32_t payload = last ? rest : SEGMENT_PAYLOAD_MAX;
        if (!has_room_for(payload))
            return false;
        append_segment(request, segment, payload, last, segment_skip);
        if (last)
            return true;
        segment++;
        segment_skip = 0;
    }
}

static bool is_valid_request(const uint8_t *frame, uint32_t msn)
{
    uint32_t size = get32(frame + READ_SIZE_OFFSET);
    uint64_t from = get64(frame + READ_SOURCE_TO_OFFSET);
    return frame[DDP_CONTROL_OFFSET] == DDP_UNTAGGED_LAST && frame[RDMAP_CONTROL_OFFSET] == RDMAP_READ_REQUEST
        && get32(frame + READ_QUEUE_NUMBER_OFFSET) == READ_QUEUE_NUMBER && get32(frame + READ_MSN_OFFSET) == msn
        && get32(frame + READ_MESSAGE_OFFSET_OFFSET) == 0
        && (size == 0 || (from <= options.region_bytes && size <= options.region_bytes - from));
}

/* ------------------------------------------------------------------------------------------------------- answering */

/* Lets go what MSG_MORE held back; without it a full socket with nothing in flight waits for a timer. */
static void push(int fd)
{
    int error = errno;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    errno = error;
}

/* Sends vectors with the payloads above the limit by sendfile: more calls, one copy less. */
static ssize_t send_by_file(int fd)
{
    ssize_t total = 0;
    int first = 0;
    for (int i = 0; i <= vector_count; i++) {
        bool by_file = i < vector_count && vectors[i].iov_len >= options.sendfile_above
            && (uint8_t *)vectors[i].iov_base >= region && (uint8_t *)vectors[i].iov_base < region + options.region_bytes;
        if (i < vector_count && !by_file)
            continue;
        size_t wanted = 0;
        for (int k = first; k < i; k++)
            wanted += vectors[k].iov_len;
        if (wanted > 0) {
            struct msghdr message = {.msg_iov = vectors + first, .msg_iovlen = (size_t)(i - first)};
            ssize_t n = sendmsg(fd, &message, by_file ? MSG_MORE : 0);
            if (n < 0)
                return total > 0 ? total : n;
            total += n;
            if ((size_t)n < wanted)
                return total;
        }
        if (by_file) {
            off_t offset = (uint8_t *)vectors[i].iov_base - region;
            ssize_t n = sendfile(fd, region_fd, &offset, vectors[i].iov_len);
            if (n < (ssize_t)vectors[i].iov_len)
                push(fd);
            if (n < 0)
                return total > 0 ? total : n;
            total += n;
            if ((size_t)n < vectors[i].iov_len)
                return total;
        }
        first = i + 1;
    }
    return total;
}

static ssize_t send_batch(int fd)
{
    if (vector_count == 1)
        return send(fd, vectors[0].iov_base, vectors[0].iov_len, 0);
    if (batch_has_file_payload)
        return send_by_file(fd);
    return writev(fd, vectors, vector_count);
}

/* Accounts for `count` bytes that the socket took; returns how many bytes of requests are done with. */
static uint32_t retire(struct connection *c, const uint8_t *requests, uint64_t count)
{
    uint32_t done = 0;
    while (count > 0) {
        uint32_t size = get32(requests + done + READ_SIZE_OFFSET);
        uint64_t rest = response_length(size) - c->sent;
        if (count < rest) {
            c->sent += count;
            break;
        }
        count -= rest;
        c->sent = 0;
        c->next_msn++;
        reads++;
        bytes += size;
        done += READ_REQUEST_LENGTH;
    }
    return done;
}

/* Answers as many of the requests in `in` as fit one batch, with one send. Adds to *consumed and *written. */
static enum outcome answer(struct connection *c, const uint8_t *in, uint32_t length, uint32_t *consumed, uint64_t *written)
{
    vector_count = 0;
    staged = 0;
    batch_length = 0;
    batch_has_file_payload = false;
    enum outcome outcome = NEEDS_INPUT;
    uint32_t planned = 0;
    for (uint64_t skip = c->sent; length - planned >= 2; skip = 0) {
        const uint8_t *frame = in + planned;
        if (get16(frame) != READ_REQUEST_ULPDU_LENGTH) {
            if (get16(frame) != TAGGED_ULPDU_OVERHEAD)
                outcome = BROKEN;
            else if (planned > 0)
                outcome = NEEDS_TURN; /* skip_ready goes first */
            break;
        }
        if (length - planned < READ_REQUEST_LENGTH)
            break;
        if (!is_valid_request(frame, c->next_msn + planned / READ_REQUEST_LENGTH)) {
            outcome = BROKEN;
            break;
        }
        if (!append_response(frame, skip)) {
            outcome = NEEDS_TURN;
            break;
        }
        planned += READ_REQUEST_LENGTH;
    }
    if (batch_length == 0)
        return outcome;
    ssize_t n = send_batch(c->fd);
    if (n < 0) {
        if (errno != EAGAIN)
            return BROKEN;
        n = 0;
    }
    *consumed += retire(c, in, (uint64_t)n);
    *written += (uint64_t)n;
    return (uint64_t)n < batch_length ? NEEDS_ROOM : outcome;
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

/* Skips zero-length RDMA WRITEs: the one that says ready to receive, and its repetitions, to a peer that has not spoken yet. */
static enum outcome skip_ready(const uint8_t *in, uint32_t length, uint32_t *consumed)
{
    uint32_t skipped = 0;
    for (; length - skipped >= RTR_WRITE_LENGTH && get16(in + skipped) == TAGGED_ULPDU_OVERHEAD; skipped += RTR_WRITE_LENGTH) {
        const uint8_t *frame = in + skipped;
        if (frame[DDP_CONTROL_OFFSET] != DDP_TAGGED_LAST || frame[RDMAP_CONTROL_OFFSET] != RDMAP_WRITE)
            return BROKEN;
    }
    *consumed += skipped;
    return NEEDS_INPUT;
}

/* -------------------------------------------------------------------------------------------- running a connection */

static void take_turn_later(struct connection *c)
{
    c->has_turn = true;
    turns[turn_count++] = c;
}

/* Answers what `in` holds; leaves what it could not answer in c->held. */
static enum outcome consume(struct connection *c, const uint8_t *in, uint32_t length, uint64_t *written)
{
    uint32_t consumed = 0;
    enum outcome outcome = NEEDS_INPUT;
    if (!c->established)
        outcome = start(c, in, length, &consumed);
    if (outcome == NEEDS_INPUT && c->established) {
        do {
            outcome = skip_ready(in + consumed, length - consumed, &consumed);
            if (outcome == NEEDS_INPUT)
                outcome = answer(c, in + consumed, length - consumed, &consumed, written);
        } while (outcome == NEEDS_TURN && *written < options.quantum);
    }
    c->held_length = length - consumed;
    memcpy(c->held, in + consumed, c->held_length);
    return outcome;
}

/* Runs a connection until it needs input, room in its socket, or has had its share and others go first. */
static void run(struct connection *c)
{
    static uint8_t in[RECEIVE_CAPACITY]; /* shared, so that it stays in the cache */
    uint64_t written = 0;
    bool has_requests = c->has_turn || c->blocked;
    c->has_turn = false;
    c->blocked = false;
    for (;; has_requests = false) {
        uint32_t length = c->held_length;
        memcpy(in, c->held, length);
        if (!has_requests) {
            if (!c->readable)
                return;
            size_t room = sizeof in - length;
            ssize_t n = recv(c->fd, in + length, room, 0);
            if (n < 0 && errno == EAGAIN) {
                c->readable = false;
                return;
            }
            if (n <= 0) {
                close_connection(c);
                return;
            }
            c->readable = (size_t)n == room || c->peer_finished;
            length += (uint32_t)n;
        }
        switch (consume(c, in, length, &written)) {
        case BROKEN:
            close_connection(c);
            return;
        case NEEDS_ROOM:
            c->blocked = true;
            return;
        case NEEDS_TURN:
            take_turn_later(c);
            return;
        case NEEDS_INPUT:
            break;
        }
        if (written >= options.quantum && c->readable) {
            take_turn_later(c);
            return;
        }
    }
}

static void watch(struct connection *c, int operation)
{
    struct epoll_event event = {.data.ptr = c};
    if (options.level_triggered)
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
    if (options.level_triggered && c->open && c->watching_output != c->blocked) {
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
        c->next_msn = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        watch(c, EPOLL_CTL_ADD);
    }
}

/* ---------------------------------------------------------------------------------------------------- the process */

static void open_region(void)
{
    size_t length = options.region_bytes;
    if (options.sendfile_above != UINT64_MAX) {
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
    if (options.sndbuf > 0)
        setsockopt(listen_fd, SOL_SOCKET, SO_SNDBUF, &options.sndbuf, sizeof(int));
    if (options.rcvbuf > 0)
        setsockopt(listen_fd, SOL_SOCKET, SO_RCVBUF, &options.rcvbuf, sizeof(int));
    if (options.congestion != NULL
        && setsockopt(listen_fd, IPPROTO_TCP, TCP_CONGESTION, options.congestion, (socklen_t)strlen(options.congestion)) != 0)
        fail("TCP_CONGESTION");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.port)};
    socklen_t length = sizeof address;
    if (bind(listen_fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(listen_fd, LISTEN_BACKLOG) != 0
        || getsockname(listen_fd, (struct sockaddr *)&address, &length) != 0)
        fail("listen");
    options.port = ntohs(address.sin_port);
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

static void parse(int argc, char **argv)
{
    static const struct option names[] = {
        {"port", required_argument, NULL, 'p'},       {"region", required_argument, NULL, 'r'},
        {"copy-below", required_argument, NULL, 'c'}, {"spin", no_argument, NULL, 's'},
        {"cpu", required_argument, NULL, 'u'},        {"sndbuf", required_argument, NULL, 'S'},
        {"rcvbuf", required_argument, NULL, 'R'},     {"level-triggered", no_argument, NULL, 'l'},
        {"quantum", required_argument, NULL, 'q'},    {"sendfile-above", required_argument, NULL, 'f'},
        {"congestion", required_argument, NULL, 'C'}, {NULL, 0, NULL, 0},
    };
    int index = 0;
    for (int o; (o = getopt_long(argc, argv, "", names, &index)) != -1;) {
        const char *name = names[index].name;
        switch (o) {
        case 'p': options.port = (int)number(name, optarg, 65535); break;
        case 'r': options.region_bytes = number(name, optarg, 1ULL << 40); break;
        case 'c': options.copy_below = (uint32_t)number(name, optarg, UINT32_MAX); break;
        case 's': options.spin = true; break;
        case 'u': options.cpu = (int)number(name, optarg, CPU_SETSIZE - 1); break;
        case 'S': options.sndbuf = (int)number(name, optarg, INT32_MAX); break;
        case 'R': options.rcvbuf = (int)number(name, optarg, INT32_MAX); break;
        case 'l': options.level_triggered = true; break;
        case 'q': options.quantum = number(name, optarg, UINT32_MAX); break;
        case 'f': options.sendfile_above = number(name, optarg, UINT32_MAX); break;
        case 'C': options.congestion = optarg; break;
        default: exit(2);
        }
    }
    if (optind < argc || options.region_bytes == 0 || options.quantum == 0) {
        fprintf(stderr, "usage: read_responder [--port P] [--region BYTES] [--copy-below N] [--spin] [--cpu N]\n"
                        "  [--sndbuf N] [--rcvbuf N] [--level-triggered] [--quantum N] [--sendfile-above N] [--congestion NAME]\n");
        exit(2);
    }
}

static int64_t micros(struct timeval now, struct timeval then)
{
    return (int64_t)(now.tv_sec - then.tv_sec) * 1000000 + now.tv_usec - then.tv_usec;
}

static void serve_until_stopped(void)
{
    static struct epoll_event events[MAX_EVENTS];
    char ignored[4096];
    for (;;) {
        int n = epoll_wait(epoll_fd, events, MAX_EVENTS, options.spin || turn_count > 0 ? 0 : -1);
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
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigprocmask(SIG_BLOCK, &stops, NULL);
    signal(SIGPIPE, SIG_IGN);

    signal_fd = signalfd(-1, &stops, SFD_NONBLOCK | SFD_CLOEXEC);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (signal_fd < 0 || epoll_fd < 0)
        fail("epoll");
    open_region();
    open_pool();
    open_listener();
    watch_source(listen_fd, &listen_fd, false);
    watch_source(signal_fd, &signal_fd, false);
    watch_source(STDIN_FILENO, NULL, true); /* a file or /dev/null cannot be watched: then only a signal stops us */

    struct rusage before;
    struct rusage after;
    getrusage(RUSAGE_SELF, &before); /* filling the region is not serving */
    printf("LISTENING %d\n", options.port);
    fflush(stdout);
    serve_until_stopped();
    getrusage(RUSAGE_SELF, &after);
    printf("{\"reads\":%llu,\"bytes\":%llu,\"userMicros\":%lld,\"systemMicros\":%lld}\n", (unsigned long long)reads,
           (unsigned long long)bytes, (long long)micros(after.ru_utime, before.ru_utime),
           (long long)micros(after.ru_stime, before.ru_stime));
    return fflush(stdout) == 0 ? 0 : 1;
}
