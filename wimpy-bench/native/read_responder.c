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
    STAGING_CAPACITY = 256 * 1024,
    MAX_VECTORS = 1024, /* UIO_MAXIOV */
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

#include <sys/sendfile.h>
#include <sys/uio.h>

static struct {
    uint32_t copy_below;
    uint64_t sendfile_above;
} options = {
    .copy_below = 4096,
    .sendfile_above = UINT64_MAX,
};

static uint64_t reads;
static uint64_t bytes;

/* The batch being built: vectors that point into `staging` (headers, trailers, small payloads) and into the region. */
static struct iovec vectors[MAX_VECTORS];
static int vector_count;
static uint8_t staging[STAGING_CAPACITY];
static uint32_t staged;
static uint64_t batch_length;
static bool batch_has_file_payload; /* a payload that --sendfile-above applies to */

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
    return batch_length < common.quantum && vector_count + 3 <= MAX_VECTORS
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
        && (size == 0 || (from <= common.region_bytes && size <= common.region_bytes - from));
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
            && (uint8_t *)vectors[i].iov_base >= region && (uint8_t *)vectors[i].iov_base < region + common.region_bytes;
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
    parse(argc, argv);
    serve(options.sendfile_above != UINT64_MAX, &user_micros, &system_micros);
    printf("{\"reads\":%llu,\"bytes\":%llu,\"userMicros\":%lld,\"systemMicros\":%lld}\n", (unsigned long long)reads,
           (unsigned long long)bytes, (long long)user_micros, (long long)system_micros);
    return fflush(stdout) == 0 ? 0 : 1;
}
