/*
 * Answers to READ requests as batches of vectors, for the responders by epoll and by io_uring. Included once, behind
 * `struct connection` (which has `next_msn` and `sent`, the bytes of the first request's response that are out) and
 * responder.h.
 */
#ifndef READ_BATCH_H
#define READ_BATCH_H

#include <sys/uio.h>

enum {
    STAGING_CAPACITY = 256 * 1024,
    MAX_VECTORS = 1024, /* UIO_MAXIOV */
};

static struct {
    uint32_t copy_below;
    uint64_t sendfile_above;
} options = {
    .copy_below = 4096,
    .sendfile_above = UINT64_MAX,
};

static uint64_t reads;
static uint64_t bytes;

/* Vectors that point into `staging` (headers, trailers, small payloads) and into the region. */
struct batch {
    struct iovec vectors[MAX_VECTORS];
    int vector_count;
    uint32_t staged;
    uint64_t length;
    bool has_file_payload; /* a payload that --sendfile-above applies to */
    uint8_t staging[STAGING_CAPACITY];
};

static struct batch *batch; /* the one that is being built */

/* ------------------------------------------------------------------------------------------------ building a batch */

static void append_vector(uint8_t *at, uint32_t length)
{
    if (length == 0)
        return;
    batch->length += length;
    if (batch->vector_count > 0) {
        struct iovec *last = &batch->vectors[batch->vector_count - 1];
        if ((uint8_t *)last->iov_base + last->iov_len == at) {
            last->iov_len += length;
            return;
        }
    }
    batch->vectors[batch->vector_count++] = (struct iovec){at, length};
}

/* Appends a segment without its first `skip` bytes, which are out already. */
static void append_segment(const uint8_t *request, uint32_t segment, uint32_t payload, bool last, uint32_t skip)
{
    uint64_t offset = (uint64_t)segment * SEGMENT_PAYLOAD_MAX;
    uint8_t *header = batch->staging + batch->staged;
    put16(header, (uint16_t)(TAGGED_ULPDU_OVERHEAD + payload));
    header[DDP_CONTROL_OFFSET] = last ? DDP_TAGGED_LAST : DDP_TAGGED;
    header[RDMAP_CONTROL_OFFSET] = RDMAP_READ_RESPONSE;
    memcpy(header + TAGGED_STAG_OFFSET, request + READ_SINK_STAG_OFFSET, 4);
    put64(header + TAGGED_TO_OFFSET, get64(request + READ_SINK_TO_OFFSET) + offset);
    batch->staged += TAGGED_HEADER_LENGTH;

    uint32_t header_skip = skip < TAGGED_HEADER_LENGTH ? skip : TAGGED_HEADER_LENGTH;
    append_vector(header + header_skip, TAGGED_HEADER_LENGTH - header_skip);
    skip -= header_skip;

    uint32_t payload_skip = skip < payload ? skip : payload;
    uint8_t *source = region + get64(request + READ_SOURCE_TO_OFFSET) + offset + payload_skip;
    uint32_t wanted = payload - payload_skip;
    skip -= payload_skip;
    if (payload < options.copy_below) {
        memcpy(batch->staging + batch->staged, source, wanted);
        source = batch->staging + batch->staged;
        batch->staged += wanted;
    } else if (wanted >= options.sendfile_above)
        batch->has_file_payload = true;
    append_vector(source, wanted);

    uint32_t trailer = padding_of(payload) + FPDU_CRC_LENGTH;
    memset(batch->staging + batch->staged, 0, trailer);
    append_vector(batch->staging + batch->staged, trailer - skip);
    batch->staged += trailer - skip;
}

static bool has_room_for(uint32_t payload)
{
    uint32_t copied = payload < options.copy_below ? payload : 0;
    return batch->length < common.quantum && batch->vector_count + 3 <= MAX_VECTORS
        && batch->staged + TAGGED_HEADER_LENGTH + copied + 3 + FPDU_CRC_LENGTH <= STAGING_CAPACITY;
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

/* Fills the batch with answers to as many of the requests in `in` as fit. */
static enum outcome plan(const struct connection *c, const uint8_t *in, uint32_t length)
{
    batch->vector_count = 0;
    batch->staged = 0;
    batch->length = 0;
    batch->has_file_payload = false;
    uint32_t planned = 0;
    for (uint64_t skip = c->sent; length - planned >= 2; skip = 0) {
        const uint8_t *frame = in + planned;
        if (get16(frame) != READ_REQUEST_ULPDU_LENGTH) {
            if (get16(frame) != TAGGED_ULPDU_OVERHEAD)
                return BROKEN;
            return planned > 0 ? NEEDS_TURN : NEEDS_INPUT; /* skip_ready goes first */
        }
        if (length - planned < READ_REQUEST_LENGTH)
            break;
        if (!is_valid_request(frame, c->next_msn + planned / READ_REQUEST_LENGTH))
            return BROKEN;
        if (!append_response(frame, skip))
            return NEEDS_TURN;
        planned += READ_REQUEST_LENGTH;
    }
    return NEEDS_INPUT;
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

#endif
