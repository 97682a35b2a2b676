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

#include <stddef.h>

enum {
    RECEIVE_CAPACITY = 16 * 1024, /* 315 requests */
};

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

#include "responder.h"
#include "read_batch.h"

#include <sys/sendfile.h>

static struct batch the_batch;

/* ------------------------------------------------------------------------------------------------------- answering */

/* Lets go what MSG_MORE held back; without it a full socket with nothing in flight waits for a timer. */
static void push(int fd)
{
    int error = errno;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    errno = error;
}

/* Sends batch->vectors with the payloads above the limit by sendfile: more calls, one copy less. */
static ssize_t send_by_file(int fd)
{
    ssize_t total = 0;
    int first = 0;
    for (int i = 0; i <= batch->vector_count; i++) {
        bool by_file = i < batch->vector_count && batch->vectors[i].iov_len >= options.sendfile_above
            && (uint8_t *)batch->vectors[i].iov_base >= region && (uint8_t *)batch->vectors[i].iov_base < region + common.region_bytes;
        if (i < batch->vector_count && !by_file)
            continue;
        size_t wanted = 0;
        for (int k = first; k < i; k++)
            wanted += batch->vectors[k].iov_len;
        if (wanted > 0) {
            struct msghdr message = {.msg_iov = batch->vectors + first, .msg_iovlen = (size_t)(i - first)};
            ssize_t n = sendmsg(fd, &message, by_file ? MSG_MORE : 0);
            if (n < 0)
                return total > 0 ? total : n;
            total += n;
            if ((size_t)n < wanted)
                return total;
        }
        if (by_file) {
            off_t offset = (uint8_t *)batch->vectors[i].iov_base - region;
            ssize_t n = sendfile(fd, region_fd, &offset, batch->vectors[i].iov_len);
            if (n < (ssize_t)batch->vectors[i].iov_len)
                push(fd);
            if (n < 0)
                return total > 0 ? total : n;
            total += n;
            if ((size_t)n < batch->vectors[i].iov_len)
                return total;
        }
        first = i + 1;
    }
    return total;
}

static ssize_t send_batch(int fd)
{
    if (batch->vector_count == 1)
        return send(fd, batch->vectors[0].iov_base, batch->vectors[0].iov_len, 0);
    if (batch->has_file_payload)
        return send_by_file(fd);
    return writev(fd, batch->vectors, batch->vector_count);
}

/* Answers as many of the requests in `in` as fit one batch, with one send. Adds to *consumed and *written. */
static enum outcome answer(struct connection *c, const uint8_t *in, uint32_t length, uint32_t *consumed, uint64_t *written)
{
    enum outcome outcome = plan(c, in, length);
    if (batch->length == 0)
        return outcome;
    ssize_t n = send_batch(c->fd);
    if (n < 0) {
        if (errno != EAGAIN)
            return BROKEN;
        n = 0;
    }
    *consumed += retire(c, in, (uint64_t)n);
    *written += (uint64_t)n;
    return (uint64_t)n < batch->length ? NEEDS_ROOM : outcome;
}

/* -------------------------------------------------------------------------------------------- running a connection */

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
        } while (outcome == NEEDS_TURN && *written < common.quantum);
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
        if (written >= common.quantum && c->readable) {
            take_turn_later(c);
            return;
        }
    }
}

/* ---------------------------------------------------------------------------------------------------- the process */

static void opened(struct connection *c)
{
    c->next_msn = 1;
}

static void parse(int argc, char **argv)
{
    static const struct option names[] = {
        COMMON_OPTIONS,
        {"copy-below", required_argument, NULL, 'c'},
        {"sendfile-above", required_argument, NULL, 'f'},
        {NULL, 0, NULL, 0},
    };
    int index = 0;
    for (int o; (o = getopt_long(argc, argv, "", names, &index)) != -1;) {
        const char *name = names[index].name;
        switch (o) {
        case 'c': options.copy_below = (uint32_t)number(name, optarg, UINT32_MAX); break;
        case 'f': options.sendfile_above = number(name, optarg, UINT32_MAX); break;
        default: take_common(o, name);
        }
    }
    check_common(argc, "usage: read_responder " COMMON_USAGE " [--copy-below N] [--sendfile-above N]\n");
}

int main(int argc, char **argv)
{
    int64_t user_micros;
    int64_t system_micros;
    batch = &the_batch;
    parse(argc, argv);
    serve(options.sendfile_above != UINT64_MAX, &user_micros, &system_micros);
    printf("{\"reads\":%llu,\"bytes\":%llu,\"userMicros\":%lld,\"systemMicros\":%lld}\n", (unsigned long long)reads,
           (unsigned long long)bytes, (long long)user_micros, (long long)system_micros);
    return fflush(stdout) == 0 ? 0 : 1;
}
