/*
 * The C yardstick of WRITE and SEND: the cheapest responder for them over TCP that we know how to write with epoll.
 *
 *   WRITE   goes to its place in the region; nothing answers it
 *   READ    of at most MAX_MESSAGE bytes is answered, so that a peer learns that its WRITEs are in place
 *   SEND    is answered by a SEND of the same bytes, once all of it is there
 *
 * One thread. A batch is one recv, then one send for all answers that it brought about. What is left of a large payload
 * is received straight into its place, with the bytes behind it; a short payload is copied there. A SEND that the
 * receive buffer holds whole is answered from that buffer and never copied. When the socket takes less than a batch, the
 * connection keeps the rest (the bytes of shared buffers by copying them), and reads no more until that is out.
 *
 * Measured and rejected variants stay as options; README.md has the figures.
 */
#define _GNU_SOURCE
#include "iwarp.h"

#include <stddef.h>

enum {
    RECEIVE_CAPACITY = 256 * 1024,
    STAGING_CAPACITY = 256 * 1024,
    MAX_VECTORS = 1024, /* UIO_MAXIOV */
    MAX_MESSAGE = 1024 * 1024,
    MAX_SEGMENTS = MAX_MESSAGE / SEGMENT_PAYLOAD_MAX + 1,
    MAX_SLOTS = 64,
    LONGEST_HEADER = READ_CRC_OFFSET,
};

struct connection {
    int fd;
    bool open;
    bool established;
    bool readable;
    bool peer_finished;
    bool blocked;           /* `rest` waits for EPOLLOUT */
    bool has_turn;
    bool watching_output;
    bool unparsed;          /* `held` is not only the start of a header: it was not looked at yet */
    bool in_send;           /* the segment being received is a SEND's */
    bool last;              /* ... the last one of its message */
    bool was_large;         /* the last WRITE or SEND had a large payload: most likely the next one has */
    uint8_t *place;         /* where the payload goes on */
    uint32_t payload;       /* of the segment being received */
    uint32_t place_left;    /* bytes of it that have not come */
    uint32_t trailer_left;  /* padding and CRC field that have not come */
    uint32_t message_done;  /* bytes of the SEND in earlier segments */
    uint32_t slot;          /* the message buffer of the next SEND that needs one */
    uint32_t read_msn;
    uint32_t send_msn;
    uint32_t reply_msn;
    uint32_t held_length;
    int rest_first;         /* of spare->rest: what the socket did not take */
    int rest_count;
    struct connection *next_free;
    uint8_t held[RECEIVE_CAPACITY];
};

#include "responder.h"

#include <sys/uio.h>

/* Of a connection, by its number in the pool; touched when it is needed. */
struct spare {
    struct iovec rest[MAX_VECTORS];
    uint8_t bytes[RECEIVE_CAPACITY + STAGING_CAPACITY];
};

static struct {
    uint32_t receive;
    uint32_t copy_below;
    uint32_t straight;
    uint32_t large;
    uint32_t behind;
    uint32_t slots;
} options = {
    .receive = 64 * 1024,
    .copy_below = 4096,
    .straight = 4096,
    .large = 16 * 1024,
    .behind = 2048,
};

static struct spare *spares;
static uint8_t *messages;
static uint64_t reads;
static uint64_t writes;
static uint64_t sends;
static uint64_t bytes;

/* The batch being built: vectors that point into `in`, `staging`, the region and message buffers. */
static uint8_t in[RECEIVE_CAPACITY]; /* shared, so that it stays in the cache */
static struct iovec vectors[MAX_VECTORS];
static int vector_count;
static uint8_t staging[STAGING_CAPACITY];
static uint32_t staged;
static uint64_t batch_length;
static uint32_t slots_in_batch;

static uint8_t *message_of(const struct connection *c)
{
    uint32_t slots = options.slots > 0 ? options.slots : 1;
    return messages + ((uint64_t)(c - pool) * slots + c->slot) * MAX_MESSAGE;
}

/* ------------------------------------------------------------------------------------------------ building a batch */

static void begin_batch(void)
{
    vector_count = 0;
    staged = 0;
    batch_length = 0;
    slots_in_batch = 0;
}

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

/* Appends a payload from where it is, or copied if it is short, then padding and CRC field. */
static void append_payload(uint8_t *payload, uint32_t length)
{
    if (length < options.copy_below) {
        memcpy(staging + staged, payload, length);
        append_vector(staging + staged, length);
        staged += length;
    } else
        append_vector(payload, length);
    uint32_t trailer = padding_of(length) + FPDU_CRC_LENGTH;
    memset(staging + staged, 0, trailer);
    append_vector(staging + staged, trailer);
    staged += trailer;
}

static void append_response(const uint8_t *request)
{
    uint32_t size = get32(request + READ_SIZE_OFFSET);
    uint8_t *source = region + get64(request + READ_SOURCE_TO_OFFSET);
    uint64_t sink = get64(request + READ_SINK_TO_OFFSET);
    uint32_t done = 0;
    do {
        uint32_t payload = size - done < SEGMENT_PAYLOAD_MAX ? size - done : SEGMENT_PAYLOAD_MAX;
        uint8_t *header = staging + staged;
        put16(header, (uint16_t)(TAGGED_ULPDU_OVERHEAD + payload));
        header[DDP_CONTROL_OFFSET] = done + payload == size ? DDP_TAGGED_LAST : DDP_TAGGED;
        header[RDMAP_CONTROL_OFFSET] = RDMAP_READ_RESPONSE;
        memcpy(header + TAGGED_STAG_OFFSET, request + READ_SINK_STAG_OFFSET, 4);
        put64(header + TAGGED_TO_OFFSET, sink + done);
        staged += TAGGED_HEADER_LENGTH;
        append_vector(header, TAGGED_HEADER_LENGTH);
        append_payload(source + done, payload);
        done += payload;
    } while (done < size);
}

static void append_reply(struct connection *c, uint8_t *message, uint32_t length)
{
    uint32_t done = 0;
    do {
        uint32_t payload = length - done < SEGMENT_PAYLOAD_MAX ? length - done : SEGMENT_PAYLOAD_MAX;
        uint8_t *header = staging + staged;
        put16(header, (uint16_t)(UNTAGGED_ULPDU_OVERHEAD + payload));
        header[DDP_CONTROL_OFFSET] = done + payload == length ? DDP_UNTAGGED_LAST : DDP_UNTAGGED;
        header[RDMAP_CONTROL_OFFSET] = RDMAP_SEND;
        put32(header + RDMAP_CONTROL_OFFSET + 1, 0);
        put32(header + UNTAGGED_QUEUE_NUMBER_OFFSET, SEND_QUEUE_NUMBER);
        put32(header + UNTAGGED_MSN_OFFSET, c->reply_msn);
        put32(header + UNTAGGED_MESSAGE_OFFSET_OFFSET, done);
        staged += UNTAGGED_HEADER_LENGTH;
        append_vector(header, UNTAGGED_HEADER_LENGTH);
        append_payload(message + done, payload);
        done += payload;
    } while (done < length);
    c->reply_msn++;
}

/* -------------------------------------------------------------------------------------------------------- sending */

static bool is_within(const uint8_t *at, const uint8_t *buffer, uint64_t length)
{
    return at >= buffer && at < buffer + length;
}

/* Keeps what the socket did not take; what lies in shared buffers is copied. */
static void keep_rest(struct connection *c, uint64_t sent)
{
    struct spare *spare = &spares[c - pool];
    uint32_t copied = 0;
    c->rest_first = 0;
    c->rest_count = 0;
    for (int i = 0; i < vector_count; i++) {
        uint64_t skip = sent < vectors[i].iov_len ? sent : vectors[i].iov_len;
        uint8_t *at = (uint8_t *)vectors[i].iov_base + skip;
        uint64_t length = vectors[i].iov_len - skip;
        sent -= skip;
        if (length == 0)
            continue;
        if (is_within(at, in, sizeof in) || is_within(at, staging, sizeof staging)) {
            memcpy(spare->bytes + copied, at, length);
            at = spare->bytes + copied;
            copied += (uint32_t)length;
        }
        spare->rest[c->rest_count++] = (struct iovec){at, length};
    }
}

/* Sends the batch. NEEDS_ROOM if the socket did not take all of it. */
static enum outcome flush(struct connection *c)
{
    if (batch_length == 0)
        return NEEDS_INPUT;
    ssize_t n = vector_count == 1 ? send(c->fd, vectors[0].iov_base, vectors[0].iov_len, 0)
                                  : writev(c->fd, vectors, vector_count);
    if (n < 0) {
        if (errno != EAGAIN)
            return BROKEN;
        n = 0;
    }
    bool whole = (uint64_t)n == batch_length;
    if (!whole)
        keep_rest(c, (uint64_t)n);
    begin_batch();
    return whole ? NEEDS_INPUT : NEEDS_ROOM;
}

static enum outcome send_rest(struct connection *c)
{
    struct iovec *rest = spares[c - pool].rest;
    while (c->rest_first < c->rest_count) {
        ssize_t n = writev(c->fd, rest + c->rest_first, c->rest_count - c->rest_first);
        if (n < 0)
            return errno == EAGAIN ? NEEDS_ROOM : BROKEN;
        while (n > 0) {
            struct iovec *first = &rest[c->rest_first];
            size_t gone = (size_t)n < first->iov_len ? (size_t)n : first->iov_len;
            first->iov_base = (uint8_t *)first->iov_base + gone;
            first->iov_len -= gone;
            n -= (ssize_t)gone;
            if (first->iov_len == 0)
                c->rest_first++;
        }
    }
    c->rest_count = 0;
    c->rest_first = 0;
    return NEEDS_INPUT;
}

/* Makes room in the batch for an answer of that many bytes that are staged; sends it if there is none. */
static enum outcome make_room(struct connection *c)
{
    uint32_t copied = options.copy_below < MAX_MESSAGE ? options.copy_below : MAX_MESSAGE;
    uint32_t most = MAX_SEGMENTS * (UNTAGGED_HEADER_LENGTH + 3 + FPDU_CRC_LENGTH) + copied;
    if (vector_count + 3 * MAX_SEGMENTS <= MAX_VECTORS && staged + most <= STAGING_CAPACITY
        && batch_length < common.quantum)
        return NEEDS_INPUT;
    return flush(c);
}

/* ------------------------------------------------------------------------------------------------------- receiving */

static bool is_valid_read(const struct connection *c, const uint8_t *frame)
{
    uint32_t size = get32(frame + READ_SIZE_OFFSET);
    uint64_t from = get64(frame + READ_SOURCE_TO_OFFSET);
    return get16(frame) == READ_REQUEST_ULPDU_LENGTH && frame[DDP_CONTROL_OFFSET] == DDP_UNTAGGED_LAST
        && get32(frame + READ_QUEUE_NUMBER_OFFSET) == READ_QUEUE_NUMBER && get32(frame + READ_MSN_OFFSET) == c->read_msn
        && get32(frame + READ_MESSAGE_OFFSET_OFFSET) == 0 && size <= MAX_MESSAGE
        && (size == 0 || (from <= common.region_bytes && size <= common.region_bytes - from));
}

/* A segment's header has been checked: its payload and trailer follow. */
static void begin_segment(struct connection *c, uint8_t *place, uint32_t payload, bool is_send, bool last)
{
    c->place = place;
    c->payload = payload;
    c->place_left = payload;
    c->trailer_left = padding_of(payload) + FPDU_CRC_LENGTH;
    c->in_send = is_send;
    c->last = last;
}

static enum outcome begin_write(struct connection *c, const uint8_t *frame)
{
    uint32_t payload = get16(frame) - TAGGED_ULPDU_OVERHEAD;
    uint64_t to = get64(frame + TAGGED_TO_OFFSET);
    uint8_t control = frame[DDP_CONTROL_OFFSET];
    if (get16(frame) < TAGGED_ULPDU_OVERHEAD || (control != DDP_TAGGED && control != DDP_TAGGED_LAST)
        || (payload > 0 && (to > common.region_bytes || payload > common.region_bytes - to)))
        return BROKEN;
    begin_segment(c, region + to, payload, false, control == DDP_TAGGED_LAST);
    c->was_large = payload >= options.large;
    return NEEDS_INPUT;
}

static enum outcome begin_read(struct connection *c, const uint8_t *frame)
{
    if (!is_valid_read(c, frame))
        return BROKEN;
    enum outcome room = make_room(c);
    if (room != NEEDS_INPUT)
        return room;
    append_response(frame);
    begin_segment(c, NULL, 0, false, false);
    c->read_msn++;
    reads++;
    return NEEDS_INPUT;
}

static bool is_valid_send(const struct connection *c, const uint8_t *frame)
{
    uint8_t control = frame[DDP_CONTROL_OFFSET];
    return get16(frame) >= UNTAGGED_ULPDU_OVERHEAD && (control == DDP_UNTAGGED || control == DDP_UNTAGGED_LAST)
        && get32(frame + UNTAGGED_QUEUE_NUMBER_OFFSET) == SEND_QUEUE_NUMBER
        && get32(frame + UNTAGGED_MSN_OFFSET) == c->send_msn
        && get32(frame + UNTAGGED_MESSAGE_OFFSET_OFFSET) == c->message_done
        && c->message_done + get16(frame) - UNTAGGED_ULPDU_OVERHEAD <= MAX_MESSAGE;
}

/* Answers a SEND from where it was received, if all of it is there; else its payload goes to a message buffer. */
static enum outcome begin_send(struct connection *c, uint8_t *frame, uint32_t available, uint32_t *consumed)
{
    if (!is_valid_send(c, frame))
        return BROKEN;
    uint32_t payload = get16(frame) - UNTAGGED_ULPDU_OVERHEAD;
    uint32_t fpdu = UNTAGGED_HEADER_LENGTH + payload + padding_of(payload) + FPDU_CRC_LENGTH;
    bool last = frame[DDP_CONTROL_OFFSET] == DDP_UNTAGGED_LAST;
    bool in_place = options.slots == 0 && last && c->message_done == 0 && available >= fpdu;
    uint32_t slots = options.slots > 0 ? options.slots : 1;
    enum outcome room = !in_place && slots_in_batch == slots ? flush(c) : make_room(c);
    if (room != NEEDS_INPUT)
        return room;
    if (in_place) {
        put32(frame + UNTAGGED_MSN_OFFSET, c->reply_msn++);
        append_vector(frame, fpdu);
        c->send_msn++;
        sends++;
        bytes += payload;
        *consumed += fpdu;
        return NEEDS_TURN; /* nothing of it is left to receive */
    }
    begin_segment(c, message_of(c) + c->message_done, payload, true, last);
    c->was_large = payload >= options.large;
    return NEEDS_INPUT;
}

static void end_segment(struct connection *c)
{
    bytes += c->payload;
    if (!c->in_send) {
        writes += c->last && c->payload > 0;
        return;
    }
    c->message_done += c->payload;
    if (c->last) {
        append_reply(c, message_of(c), c->message_done);
        c->message_done = 0;
        c->slot = options.slots > 0 ? (c->slot + 1) % options.slots : 0;
        slots_in_batch++;
        c->send_msn++;
        sends++;
    }
}

/* Begins the segment at `frame`; NEEDS_INPUT if its payload follows `*consumed`, NEEDS_TURN if none does. */
static enum outcome begin(struct connection *c, uint8_t *frame, uint32_t available, uint32_t *consumed)
{
    uint32_t header;
    enum outcome outcome;
    switch (frame[RDMAP_CONTROL_OFFSET]) {
    case RDMAP_WRITE:
        header = TAGGED_HEADER_LENGTH;
        outcome = available < header ? NEEDS_TURN : begin_write(c, frame);
        break;
    case RDMAP_READ_REQUEST:
        header = READ_CRC_OFFSET;
        outcome = available < header ? NEEDS_TURN : begin_read(c, frame);
        break;
    case RDMAP_SEND:
        header = UNTAGGED_HEADER_LENGTH;
        outcome = available < header ? NEEDS_TURN : begin_send(c, frame, available, consumed);
        break;
    default: return BROKEN;
    }
    if (outcome == NEEDS_INPUT)
        *consumed += header;
    return outcome;
}

/* Handles `length` bytes of `in`; leaves in c->held what it could not handle. */
static enum outcome consume(struct connection *c, uint32_t length)
{
    uint32_t at = 0;
    enum outcome outcome = NEEDS_INPUT;
    if (!c->established)
        outcome = start(c, in, length, &at);
    while (outcome == NEEDS_INPUT && c->established && at < length) {
        uint32_t here = length - at;
        if (c->place_left > 0) {
            here = here < c->place_left ? here : c->place_left;
            memcpy(c->place, in + at, here);
            c->place += here;
            c->place_left -= here;
            at += here;
        } else if (c->trailer_left > 0) {
            here = here < c->trailer_left ? here : c->trailer_left;
            c->trailer_left -= here;
            at += here;
            if (c->trailer_left == 0)
                end_segment(c);
        } else {
            uint32_t before = at;
            outcome = here < RDMAP_CONTROL_OFFSET + 1 ? NEEDS_TURN : begin(c, in + at, here, &at);
            if (outcome == NEEDS_TURN && at > before)
                outcome = NEEDS_INPUT;
        }
    }
    c->held_length = length - at;
    memcpy(c->held, in + at, c->held_length);
    c->unparsed = outcome == NEEDS_ROOM;
    return outcome == NEEDS_TURN ? NEEDS_INPUT : outcome;
}

/* -------------------------------------------------------------------------------------------- running a connection */

/* Receives what comes next; the bytes that are then in `in`, -1 if nothing came, -2 if the connection is over. */
static int32_t receive(struct connection *c, uint64_t *moved)
{
    bool straight = c->place_left >= options.straight;
    bool expect_large = straight ? c->place_left >= options.large : c->was_large;
    uint32_t held = c->held_length; /* the start of a header, and 0 in the middle of a payload */
    uint32_t place = straight ? c->place_left : 0;
    uint32_t room = (expect_large ? options.behind + c->place_left - place : options.receive) - held;
    ssize_t n;
    if (straight) {
        struct iovec into[] = {{c->place, place}, {in, room}};
        n = readv(c->fd, into, 2);
    } else {
        memcpy(in, c->held, held);
        n = recv(c->fd, in + held, room, 0);
    }
    if (n < 0 && errno == EAGAIN) {
        c->readable = false;
        return -1;
    }
    if (n <= 0)
        return -2;
    c->readable = (size_t)n == (size_t)place + room || c->peer_finished;
    *moved += (uint64_t)n;
    uint32_t placed = (size_t)n < place ? (uint32_t)n : place;
    c->place += placed;
    c->place_left -= placed;
    c->held_length = 0;
    return (int32_t)(held + (uint32_t)n - placed);
}

/* Handles what was received and sends the answers. */
static enum outcome handle(struct connection *c, uint32_t length)
{
    begin_batch();
    enum outcome outcome = consume(c, length);
    return outcome == NEEDS_INPUT ? flush(c) : outcome;
}

static void run(struct connection *c)
{
    uint64_t moved = 0;
    c->has_turn = false;
    c->blocked = false;
    enum outcome outcome = c->rest_count > 0 ? send_rest(c) : NEEDS_INPUT;
    while (outcome == NEEDS_INPUT) {
        int32_t length;
        if (c->unparsed) {
            length = (int32_t)c->held_length;
            memcpy(in, c->held, c->held_length);
        } else if (!c->readable)
            return;
        else if (moved >= common.quantum) {
            take_turn_later(c);
            return;
        } else
            length = receive(c, &moved);
        if (length == -1)
            return;
        outcome = length < 0 ? BROKEN : handle(c, (uint32_t)length);
    }
    if (outcome == NEEDS_ROOM)
        c->blocked = true;
    else
        close_connection(c);
}

/* ---------------------------------------------------------------------------------------------------- the process */

static void opened(struct connection *c)
{
    c->read_msn = 1;
    c->send_msn = 1;
    c->reply_msn = 1;
}

static void parse(int argc, char **argv)
{
    static const struct option names[] = {
        COMMON_OPTIONS,
        {"receive", required_argument, NULL, 'i'},
        {"copy-below", required_argument, NULL, 'c'},
        {"straight", required_argument, NULL, 't'},
        {"large", required_argument, NULL, 'g'},
        {"behind", required_argument, NULL, 'b'},
        {"slots", required_argument, NULL, 'n'},
        {NULL, 0, NULL, 0},
    };
    static const char usage[] = "usage: message_responder " COMMON_USAGE " [--receive N] [--copy-below N] [--straight N]\n"
                                "  [--large N] [--behind N] [--slots N]\n";
    int index = 0;
    for (int o; (o = getopt_long(argc, argv, "", names, &index)) != -1;) {
        const char *name = names[index].name;
        switch (o) {
        case 'i': options.receive = (uint32_t)number(name, optarg, RECEIVE_CAPACITY); break;
        case 'c': options.copy_below = (uint32_t)number(name, optarg, SEGMENT_PAYLOAD_MAX); break;
        case 't': options.straight = (uint32_t)number(name, optarg, UINT32_MAX); break;
        case 'g': options.large = (uint32_t)number(name, optarg, UINT32_MAX); break;
        case 'b': options.behind = (uint32_t)number(name, optarg, RECEIVE_CAPACITY / 2); break;
        case 'n': options.slots = (uint32_t)number(name, optarg, MAX_SLOTS); break;
        default: take_common(o, name);
        }
    }
    check_common(argc, usage);
    if (options.receive < MPA_HEADER_LENGTH + MPA_MAX_PRIVATE_DATA || options.behind < 2 * LONGEST_HEADER
        || options.straight == 0 || options.straight > RECEIVE_CAPACITY / 2) {
        fputs(usage, stderr);
        exit(2);
    }
}

static void *reserve(uint64_t length)
{
    void *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        fail("mmap");
    return memory;
}

int main(int argc, char **argv)
{
    int64_t user_micros;
    int64_t system_micros;
    parse(argc, argv);
    spares = reserve(sizeof *spares * MAX_CONNECTIONS);
    messages = reserve((uint64_t)MAX_MESSAGE * MAX_CONNECTIONS * (options.slots > 0 ? options.slots : 1));
    serve(false, &user_micros, &system_micros);
    printf("{\"writes\":%llu,\"sends\":%llu,\"reads\":%llu,\"bytes\":%llu,\"userMicros\":%lld,\"systemMicros\":%lld}\n",
           (unsigned long long)writes, (unsigned long long)sends, (unsigned long long)reads, (unsigned long long)bytes,
           (long long)user_micros, (long long)system_micros);
    return fflush(stdout) == 0 ? 0 : 1;
}
