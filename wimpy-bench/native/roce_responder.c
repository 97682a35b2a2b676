/*
 * The C yardstick of RoCEv2: the cheapest responder for RDMA READs over UDP that we know how to write. It speaks to the soft
 * RNIC's requester: REQ, REP, RTU, DREQ and DREP on queue pair 1, READ requests, and empty WRITEs that ask whether it is there.
 *
 * One thread. A batch is one recvmmsg, then one sendmmsg for all the responses that the requests in it ask for. Responses are
 * copied next to each other, which the ICRC reads anyway; those of one peer and one length are one train (UDP_SEGMENT). The
 * socket blocks when it has no room, which it has again when the peer has received: nothing is lost on one machine.
 *
 * What the network loses is asked for again by the peer: a READ that comes again is answered again, and one behind a gap is
 * refused (NAK, sequence error). There is no timer here, since a responder needs none.
 */
#define _GNU_SOURCE
#include "iwarp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <getopt.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum {
    ROCE_PORT = 4791,
    FIRST_SPREADING_PORT = 0xC000, /* whoever sends from a lower one hears there */
    SERVICE_PORT = 18515,          /* any: all services are this one */
    MAX_CONNECTIONS = 4096,
    FIRST_QUEUE_PAIR = 2,
    MAX_READS = 128,
    BUFFERS = 16,
    BUFFER_BYTES = 64 * 1024,
    STAGE_BYTES = 1024 * 1024,
    MAX_ENTRIES = 256,
    MAX_SEGMENTS = 64,
    MAX_TRAIN_BYTES = 65507,
    SOCKET_BUFFER = 8 << 20,
    POLLS_PER_LOOK = 4096,

    BTH_LENGTH = 12,
    AETH_LENGTH = 4,
    RETH_LENGTH = 16,
    DETH_LENGTH = 8,
    ICRC_LENGTH = 4,
    PSEUDO_LENGTH = 36, /* masked LRH, IPv4, UDP */
    PSN_MASK = 0xFFFFFF,

    WRITE_ONLY = 0x0A,
    READ_REQUEST = 0x0C,
    READ_RESPONSE_FIRST = 0x0D,
    READ_RESPONSE_MIDDLE = 0x0E,
    READ_RESPONSE_LAST = 0x0F,
    READ_RESPONSE_ONLY = 0x10,
    ACKNOWLEDGE = 0x11,
    UD_SEND_ONLY = 0x64,
    MIGRATED = 0x40,
    ACKNOWLEDGED = 0x1F,
    SEQUENCE_ERROR = 0x60,
    ACCESS_ERROR = 0x62,

    MAD_LENGTH = 256,
    MAD_DATA = 24,
    REQ = 0x10,
    REJ = 0x12,
    REP = 0x13,
    DREQ = 0x15,
    DREP = 0x16,
};

static const uint32_t MAD_KIND = 0x01070203;
static const uint32_t MANAGER_KEY = 0x80010000;

struct connection {
    bool open;
    bool told_gap;      /* a NAK was sent, and nothing in order has come since */
    uint32_t peer_pair;
    uint32_t peer_id;   /* of the connection manager */
    uint32_t expected;  /* PSN */
    uint32_t msn;
    uint32_t unit;      /* payload of a full packet */
    struct sockaddr_in peer;
};

static struct {
    const char *address;
    int udp_port;
    uint64_t region_bytes;
    bool spin;
} options = {.address = "127.0.0.1", .udp_port = ROCE_PORT, .region_bytes = 64 << 20};

static int udp_fd;
static int signal_fd;
static uint8_t *region;
static struct connection connections[MAX_CONNECTIONS];
static struct in_addr own;
static uint64_t reads;
static uint64_t bytes;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

/* -------------------------------------------------------------------------------------------------------------- ICRC */

static uint32_t crc_table[8][256];

static void build_table(void)
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? 0xEDB88320 : 0);
        crc_table[0][i] = c;
    }
    for (int row = 1; row < 8; row++) {
        for (int i = 0; i < 256; i++)
            crc_table[row][i] = crc_table[row - 1][i] >> 8 ^ crc_table[0][crc_table[row - 1][i] & 0xFF];
    }
}

static uint32_t crc_by_table(uint32_t c, const uint8_t *p, size_t length)
{
    while (length >= 8) {
        uint32_t low;
        uint32_t high;
        memcpy(&low, p, 4);
        memcpy(&high, p + 4, 4);
        low ^= c;
        c = crc_table[7][low & 0xFF] ^ crc_table[6][low >> 8 & 0xFF] ^ crc_table[5][low >> 16 & 0xFF]
            ^ crc_table[4][low >> 24] ^ crc_table[3][high & 0xFF] ^ crc_table[2][high >> 8 & 0xFF]
            ^ crc_table[1][high >> 16 & 0xFF] ^ crc_table[0][high >> 24];
        p += 8;
        length -= 8;
    }
    while (length-- > 0)
        c = c >> 8 ^ crc_table[0][(c ^ *p++) & 0xFF];
    return c;
}

#if defined(__x86_64__)

#define FOLD(x, k) _mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11))
#define LOAD(p) _mm_loadu_si128((const __m128i *)(p))

/* Folding by carry-less multiplication (Gopal et al., Intel 2009). At least 64 bytes, a multiple of 16. */
__attribute__((target("sse4.1,pclmul"))) static uint32_t crc_by_folding(uint32_t c, const uint8_t *p, size_t length)
{
    const __m128i by_512 = _mm_set_epi64x(0x01c6e41596, 0x0154442bd4);
    const __m128i by_128 = _mm_set_epi64x(0x00ccaa009e, 0x01751997d0);
    const __m128i by_64 = _mm_set_epi64x(0, 0x0163cd6124);
    const __m128i polynomial = _mm_set_epi64x(0x01f7011641, 0x01db710641);
    const __m128i low_words = _mm_setr_epi32(~0, 0, ~0, 0);
    __m128i a = _mm_xor_si128(LOAD(p), _mm_cvtsi32_si128((int)c));
    __m128i b = LOAD(p + 16);
    __m128i d = LOAD(p + 32);
    __m128i e = LOAD(p + 48);
    for (p += 64, length -= 64; length >= 64; p += 64, length -= 64) {
        a = _mm_xor_si128(FOLD(a, by_512), LOAD(p));
        b = _mm_xor_si128(FOLD(b, by_512), LOAD(p + 16));
        d = _mm_xor_si128(FOLD(d, by_512), LOAD(p + 32));
        e = _mm_xor_si128(FOLD(e, by_512), LOAD(p + 48));
    }
    a = _mm_xor_si128(FOLD(a, by_128), b);
    a = _mm_xor_si128(FOLD(a, by_128), d);
    a = _mm_xor_si128(FOLD(a, by_128), e);
    for (; length >= 16; p += 16, length -= 16)
        a = _mm_xor_si128(FOLD(a, by_128), LOAD(p));
    a = _mm_xor_si128(_mm_srli_si128(a, 8), _mm_clmulepi64_si128(a, by_128, 0x10));
    a = _mm_xor_si128(_mm_srli_si128(a, 4), _mm_clmulepi64_si128(_mm_and_si128(a, low_words), by_64, 0x00));
    __m128i t = _mm_clmulepi64_si128(_mm_and_si128(a, low_words), polynomial, 0x10);
    t = _mm_clmulepi64_si128(_mm_and_si128(t, low_words), polynomial, 0x00);
    return (uint32_t)_mm_extract_epi32(_mm_xor_si128(a, t), 1);
}

static bool folds;

static void choose_crc(void)
{
    uint8_t sample[192];
    build_table();
    for (size_t i = 0; i < sizeof sample; i++)
        sample[i] = pattern_at(i * i);
    folds = __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")
        && crc_by_folding(~0u, sample, sizeof sample) == crc_by_table(~0u, sample, sizeof sample);
}

static uint32_t crc(uint32_t c, const uint8_t *p, size_t length)
{
    size_t folded = folds && length >= 64 ? length & ~(size_t)15 : 0;
    if (folded > 0)
        c = crc_by_folding(c, p, folded);
    return crc_by_table(c, p + folded, length - folded);
}

#else

static void choose_crc(void) { build_table(); }
static uint32_t crc(uint32_t c, const uint8_t *p, size_t length) { return crc_by_table(c, p, length); }

#endif

/* The identification of IPv4 is the place in the train, as Linux has it for sockets that forbid fragments. */
static uint32_t icrc(struct in_addr from, struct in_addr to, uint16_t from_port, uint16_t to_port, uint32_t place,
                     const uint8_t *packet, uint32_t length)
{
    uint8_t head[PSEUDO_LENGTH + BTH_LENGTH];
    memset(head, 0xFF, sizeof head);
    uint8_t *ip = head + 8;
    ip[0] = 0x45;
    put16(ip + 2, (uint16_t)(28 + length));
    put16(ip + 4, (uint16_t)place);
    put16(ip + 6, 0x4000);
    ip[9] = 17;
    memcpy(ip + 12, &from, 4);
    memcpy(ip + 16, &to, 4);
    put16(ip + 20, from_port);
    put16(ip + 22, to_port);
    put16(ip + 24, (uint16_t)(8 + length));
    memcpy(head + PSEUDO_LENGTH, packet, BTH_LENGTH);
    head[PSEUDO_LENGTH + 4] = 0xFF;
    uint32_t c = crc_by_table(~0u, head, sizeof head);
    return ~crc(c, packet + BTH_LENGTH, length - BTH_LENGTH - ICRC_LENGTH);
}

/* ----------------------------------------------------------------------------------------------------------- sending */

static uint8_t stage[STAGE_BYTES];
static uint32_t staged;
static struct mmsghdr out[MAX_ENTRIES];
static struct iovec out_vectors[MAX_ENTRIES];
static struct sockaddr_in out_peers[MAX_ENTRIES];
static uint8_t out_controls[MAX_ENTRIES][CMSG_SPACE(sizeof(uint16_t))];
static uint32_t out_segments[MAX_ENTRIES]; /* bytes of each packet but the last */
static uint32_t out_counts[MAX_ENTRIES];
static int out_count;

static void flush_stage(void)
{
    for (int i = 0; i < out_count; i++) {
        struct msghdr *message = &out[i].msg_hdr;
        memset(message, 0, sizeof *message);
        message->msg_name = &out_peers[i];
        message->msg_namelen = sizeof out_peers[i];
        message->msg_iov = &out_vectors[i];
        message->msg_iovlen = 1;
        if (out_counts[i] > 1) {
            message->msg_control = out_controls[i];
            message->msg_controllen = sizeof out_controls[i];
            struct cmsghdr *control = CMSG_FIRSTHDR(message);
            control->cmsg_level = IPPROTO_UDP;
            control->cmsg_type = UDP_SEGMENT;
            control->cmsg_len = CMSG_LEN(sizeof(uint16_t));
            uint16_t segment = (uint16_t)out_segments[i];
            memcpy(CMSG_DATA(control), &segment, sizeof segment);
        }
    }
    for (int sent = 0; sent < out_count;) {
        int n = sendmmsg(udp_fd, out + sent, (unsigned)(out_count - sent), MSG_NOSIGNAL);
        if (n > 0)
            sent += n;
        else if (errno != EINTR)
            sent++; /* an error of this peer; it asks again, or is gone */
    }
    out_count = 0;
    staged = 0;
}

/* Room for a packet; its ICRC is put by staged_packet. */
static uint8_t *next_packet(uint32_t length)
{
    if (staged + length > STAGE_BYTES || out_count == MAX_ENTRIES)
        flush_stage();
    return stage + staged;
}

static void staged_packet(const struct sockaddr_in *peer, uint32_t length)
{
    uint8_t *packet = stage + staged;
    int last = out_count - 1;
    bool joins = out_count > 0 && out_peers[last].sin_port == peer->sin_port
        && out_peers[last].sin_addr.s_addr == peer->sin_addr.s_addr && length <= out_segments[last]
        && out_vectors[last].iov_len == (size_t)out_segments[last] * out_counts[last] && out_counts[last] < MAX_SEGMENTS
        && out_vectors[last].iov_len + length <= MAX_TRAIN_BYTES;
    if (!joins) {
        last = out_count++;
        out_peers[last] = *peer;
        out_vectors[last] = (struct iovec){.iov_base = packet};
        out_segments[last] = length;
        out_counts[last] = 0;
    }
    uint32_t sum = icrc(own, peer->sin_addr, (uint16_t)options.udp_port, ntohs(peer->sin_port), out_counts[last], packet, length);
    memcpy(packet + length - ICRC_LENGTH, &sum, ICRC_LENGTH); /* little endian, as this machine is */
    out_vectors[last].iov_len += length;
    out_counts[last]++;
    staged += length;
}

static uint32_t pad_of(uint32_t payload) { return -payload & 3; }

static void put_bth(uint8_t *packet, uint8_t opcode, uint32_t payload, uint32_t destination, uint32_t psn)
{
    packet[0] = opcode;
    packet[1] = (uint8_t)(MIGRATED | pad_of(payload) << 4);
    put16(packet + 2, 0xFFFF);
    put32(packet + 4, destination);
    put32(packet + 8, psn & PSN_MASK);
}

static void acknowledge(const struct connection *c, uint8_t syndrome, uint32_t psn)
{
    uint8_t *packet = next_packet(BTH_LENGTH + AETH_LENGTH + ICRC_LENGTH);
    put_bth(packet, ACKNOWLEDGE, 0, c->peer_pair, psn);
    put32(packet + BTH_LENGTH, (uint32_t)syndrome << 24 | (c->msn & PSN_MASK));
    staged_packet(&c->peer, BTH_LENGTH + AETH_LENGTH + ICRC_LENGTH);
}

/* ------------------------------------------------------------------------------------------------------------- READs */

static void respond(const struct connection *c, uint32_t psn, uint64_t address, uint32_t length, uint32_t packets)
{
    for (uint32_t i = 0; i < packets; i++) {
        uint32_t done = i * c->unit;
        uint32_t payload = length - done < c->unit ? length - done : c->unit;
        bool first = i == 0;
        bool last = i == packets - 1;
        uint8_t opcode = first && last ? READ_RESPONSE_ONLY
            : first                    ? READ_RESPONSE_FIRST
            : last                     ? READ_RESPONSE_LAST
                                       : READ_RESPONSE_MIDDLE;
        uint32_t head = BTH_LENGTH + (first || last ? AETH_LENGTH : 0);
        uint32_t total = head + payload + pad_of(payload) + ICRC_LENGTH;
        uint8_t *packet = next_packet(total);
        put_bth(packet, opcode, payload, c->peer_pair, psn + i);
        if (first || last)
            put32(packet + BTH_LENGTH, (uint32_t)ACKNOWLEDGED << 24 | (c->msn & PSN_MASK));
        memcpy(packet + head, region + address + done, payload);
        memset(packet + head + payload, 0, pad_of(payload));
        staged_packet(&c->peer, total);
    }
}

static void on_request(struct connection *c, const uint8_t *packet, uint32_t length)
{
    uint32_t psn = get32(packet + 8) & PSN_MASK;
    uint32_t ahead = (psn - c->expected) & PSN_MASK;
    bool duplicate = ahead > PSN_MASK / 2;
    if (ahead != 0 && !duplicate) {
        if (!c->told_gap)
            acknowledge(c, SEQUENCE_ERROR, c->expected);
        c->told_gap = true;
        return;
    }
    if (packet[0] == WRITE_ONLY && length == BTH_LENGTH + RETH_LENGTH + ICRC_LENGTH) {
        if (!duplicate)
            c->expected = (c->expected + 1) & PSN_MASK, c->msn++;
        acknowledge(c, ACKNOWLEDGED, duplicate ? c->expected - 1 : psn);
        return;
    }
    if (packet[0] != READ_REQUEST || length != BTH_LENGTH + RETH_LENGTH + ICRC_LENGTH)
        return;
    uint64_t address = get64(packet + BTH_LENGTH);
    uint32_t wanted = get32(packet + BTH_LENGTH + 12);
    if (address > options.region_bytes || wanted > options.region_bytes - address) {
        acknowledge(c, ACCESS_ERROR, psn);
        return;
    }
    uint32_t packets = wanted == 0 ? 1 : (wanted + c->unit - 1) / c->unit;
    if (!duplicate) {
        c->expected = (psn + packets) & PSN_MASK;
        c->msn++;
        c->told_gap = false;
        reads++;
        bytes += wanted;
    }
    respond(c, psn, address, wanted, packets);
}

/* ------------------------------------------------------------------------------------------------ connection manager */

static uint8_t *begin_message(const uint8_t *asked, uint16_t attribute)
{
    uint32_t head = BTH_LENGTH + DETH_LENGTH;
    uint8_t *packet = next_packet(head + MAD_LENGTH + ICRC_LENGTH);
    put_bth(packet, UD_SEND_ONLY, MAD_LENGTH, 1, 0);
    put32(packet + BTH_LENGTH, MANAGER_KEY);
    put32(packet + BTH_LENGTH + 4, 1);
    uint8_t *mad = packet + head;
    memset(mad, 0, MAD_LENGTH);
    put32(mad, MAD_KIND);
    memcpy(mad + 8, asked + 8, 8); /* transaction */
    put16(mad + 16, attribute);
    return mad + MAD_DATA;
}

static void end_message(const struct sockaddr_in *peer)
{
    staged_packet(peer, BTH_LENGTH + DETH_LENGTH + MAD_LENGTH + ICRC_LENGTH);
}

/* Also one that was there: the REQ has come again. */
static struct connection *connection_for(const struct sockaddr_in *peer, uint32_t peer_id)
{
    struct connection *unused = NULL;
    for (int i = 0; i < MAX_CONNECTIONS; i++) {
        struct connection *c = &connections[i];
        if (c->open && c->peer_id == peer_id && c->peer.sin_port == peer->sin_port
            && c->peer.sin_addr.s_addr == peer->sin_addr.s_addr)
            return c;
        if (!c->open && unused == NULL)
            unused = c;
    }
    return unused;
}

static void on_connect(const struct sockaddr_in *peer, const uint8_t *mad)
{
    const uint8_t *request = mad + MAD_DATA;
    struct connection *c = connection_for(peer, get32(request));
    if (c == NULL)
        return; /* full; the peer asks again */
    uint32_t code = get32(request + 48) >> 12 & 0xF;
    uint32_t depth = get32(request + 36) & 0xFF;
    if (code < 1 || code > 5)
        return;
    if (!c->open) {
        *c = (struct connection){
            .open = true,
            .peer_pair = get32(request + 32) >> 8,
            .peer_id = get32(request),
            .unit = 128u << code,
            .peer = *peer,
        };
    }
    uint32_t index = (uint32_t)(c - connections);
    uint8_t *reply = begin_message(mad, REP);
    put32(reply, index + 1);
    put32(reply + 4, c->peer_id);
    put32(reply + 12, (index + FIRST_QUEUE_PAIR) << 8);
    put32(reply + 20, 0); /* the peer begins with PSN 0 */
    put32(reply + 24, (depth < MAX_READS ? depth : MAX_READS) << 24 | 1u << 16 | 15u << 11 | 7u << 5);
    put64(reply + 28, 0x5A5A);
    end_message(peer);
}

static void on_message(const struct sockaddr_in *peer, const uint8_t *mad)
{
    uint32_t theirs = get32(mad + MAD_DATA);
    uint32_t ours = get32(mad + MAD_DATA + 4);
    struct connection *c = ours >= 1 && ours <= MAX_CONNECTIONS ? &connections[ours - 1] : NULL;
    bool known = c != NULL && c->open && c->peer_id == theirs;
    switch (get16(mad + 16)) {
    case REQ:
        on_connect(peer, mad);
        break;
    case DREQ: {
        uint8_t *reply = begin_message(mad, DREP);
        put32(reply, ours);
        put32(reply + 4, theirs);
        end_message(peer);
        if (known)
            c->open = false;
        break;
    }
    case REJ:
        if (known)
            c->open = false;
        break;
    default: /* RTU and others: the queue pair answers already */
        break;
    }
}

/* --------------------------------------------------------------------------------------------------------- receiving */

static uint8_t buffers[BUFFERS][BUFFER_BYTES];
static struct mmsghdr in[BUFFERS];
static struct iovec in_vectors[BUFFERS];
static struct sockaddr_in in_peers[BUFFERS];
static uint8_t in_controls[BUFFERS][CMSG_SPACE(sizeof(int))];

/* The ICRC of a request is not checked: UDP on one machine damages nothing, and a check could only cost more. */
static void on_packet(const struct sockaddr_in *from, const uint8_t *packet, uint32_t length)
{
    if (length < BTH_LENGTH + ICRC_LENGTH)
        return;
    uint32_t destination = get32(packet + 4) & PSN_MASK;
    if (destination == 1) {
        struct sockaddr_in peer = *from;
        if (ntohs(peer.sin_port) >= FIRST_SPREADING_PORT)
            peer.sin_port = htons(ROCE_PORT);
        if (packet[0] == UD_SEND_ONLY && length == BTH_LENGTH + DETH_LENGTH + MAD_LENGTH + ICRC_LENGTH
            && get32(packet + BTH_LENGTH + DETH_LENGTH) == MAD_KIND)
            on_message(&peer, packet + BTH_LENGTH + DETH_LENGTH);
        return;
    }
    uint32_t index = destination - FIRST_QUEUE_PAIR;
    if (index < MAX_CONNECTIONS && connections[index].open
        && connections[index].peer.sin_addr.s_addr == from->sin_addr.s_addr)
        on_request(&connections[index], packet, length);
}

static uint32_t segment_of(struct msghdr *message, uint32_t length)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
            int segment;
            memcpy(&segment, CMSG_DATA(c), sizeof segment);
            return (uint32_t)segment;
        }
    }
    return length;
}

/* Handles what is there; false if nothing was. */
static bool turn(void)
{
    for (int i = 0; i < BUFFERS; i++) {
        in[i].msg_hdr.msg_namelen = sizeof in_peers[i];
        in[i].msg_hdr.msg_controllen = sizeof in_controls[i];
    }
    int n = recvmmsg(udp_fd, in, BUFFERS, MSG_DONTWAIT, NULL);
    for (int i = 0; i < n; i++) {
        uint32_t length = in[i].msg_len;
        uint32_t segment = segment_of(&in[i].msg_hdr, length);
        for (uint32_t at = 0; segment > 0 && at < length; at += segment)
            on_packet(&in_peers[i], buffers[i] + at, length - at < segment ? length - at : segment);
    }
    if (out_count > 0)
        flush_stage();
    return n > 0;
}

/* ------------------------------------------------------------------------------------------------------- the process */

/* True if it is to end. */
static bool waits(int timeout)
{
    char ignored[4096];
    struct pollfd sources[] = {
        {.fd = udp_fd, .events = POLLIN},
        {.fd = signal_fd, .events = POLLIN},
        {.fd = STDIN_FILENO, .events = POLLIN},
    };
    if (poll(sources, 3, timeout) < 0 && errno != EINTR)
        fail("poll");
    return sources[1].revents != 0 || (sources[2].revents != 0 && read(STDIN_FILENO, ignored, sizeof ignored) <= 0);
}

static void serve_until_stopped(void)
{
    for (;;) {
        if (waits(options.spin ? 0 : -1))
            return;
        int idle = 0;
        while (idle < (options.spin ? POLLS_PER_LOOK : 1))
            idle = turn() ? 0 : idle + 1;
    }
}

static void open_region(void)
{
    size_t length = options.region_bytes;
    region = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (region == MAP_FAILED)
        fail("mmap region");
    madvise(region, length, MADV_HUGEPAGE);
    for (size_t i = 0; i < length && i < 256; i++)
        region[i] = pattern_at(i);
    for (size_t done = 256; done < length; done *= 2) /* the pattern repeats every 256 bytes */
        memcpy(region + done, region, length - done < done ? length - done : done);
}

static void open_socket(void)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)options.udp_port)};
    if (inet_pton(AF_INET, options.address, &address.sin_addr) != 1) {
        fprintf(stderr, "--address %s: expected an IPv4 address\n", options.address);
        exit(2);
    }
    own = address.sin_addr;
    udp_fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (udp_fd < 0)
        fail("socket");
    setsockopt(udp_fd, IPPROTO_IP, IP_MTU_DISCOVER, &(int){IP_PMTUDISC_DO}, sizeof(int));
    setsockopt(udp_fd, IPPROTO_UDP, UDP_GRO, &(int){1}, sizeof(int));
    setsockopt(udp_fd, SOL_SOCKET, SO_RCVBUF, &(int){SOCKET_BUFFER}, sizeof(int));
    setsockopt(udp_fd, SOL_SOCKET, SO_SNDBUF, &(int){SOCKET_BUFFER}, sizeof(int));
    if (bind(udp_fd, (struct sockaddr *)&address, sizeof address) != 0)
        fail("bind");
    for (int i = 0; i < BUFFERS; i++) {
        in_vectors[i] = (struct iovec){.iov_base = buffers[i], .iov_len = BUFFER_BYTES};
        in[i].msg_hdr = (struct msghdr){
            .msg_name = &in_peers[i],
            .msg_iov = &in_vectors[i],
            .msg_iovlen = 1,
            .msg_control = in_controls[i],
        };
    }
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
        {"address", required_argument, NULL, 'a'},
        {"udp-port", required_argument, NULL, 'p'},
        {"region", required_argument, NULL, 'r'},
        {"spin", no_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    int index = 0;
    for (int o; (o = getopt_long(argc, argv, "", names, &index)) != -1;) {
        switch (o) {
        case 'a': options.address = optarg; break;
        case 'p': options.udp_port = (int)number("udp-port", optarg, 65535); break;
        case 'r': options.region_bytes = number("region", optarg, 1ULL << 40); break;
        case 's': options.spin = true; break;
        default: exit(2);
        }
    }
    if (optind < argc || options.region_bytes == 0) {
        fputs("usage: roce_responder [--address IPV4] [--udp-port P] [--region BYTES] [--spin]\n", stderr);
        exit(2);
    }
}

int main(int argc, char **argv)
{
    parse(argc, argv);
    sigset_t stops;
    sigemptyset(&stops);
    sigaddset(&stops, SIGTERM);
    sigaddset(&stops, SIGINT);
    sigprocmask(SIG_BLOCK, &stops, NULL);
    signal_fd = signalfd(-1, &stops, SFD_NONBLOCK | SFD_CLOEXEC);
    if (signal_fd < 0)
        fail("signalfd");
    choose_crc();
    open_region();
    open_socket();
    printf("LISTENING %d\n", SERVICE_PORT);
    fflush(stdout);
    serve_until_stopped();
    printf("{\"reads\":%llu,\"bytes\":%llu}\n", (unsigned long long)reads, (unsigned long long)bytes);
    return fflush(stdout) == 0 ? 0 : 1;
}
