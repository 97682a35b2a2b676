/*
 * The bytes of the wire, as far as the responders need them: MPA start-up frames (RFC 5044 section 7.1, RFC 6581 section
 * 9) and the FPDUs of READ request, READ response, WRITE and SEND (RFC 5041 section 4, RFC 5040 section 4). A zero-length
 * WRITE serves as RTR. Everything is big endian; no markers; the CRC field is present and zero because CRC is not in use.
 *
 *   READ request, one FPDU of 52 bytes; the initiator writes it
 *    0  ULPDU length = 46
 *    2  DDP control 0x41 (untagged, last, version 1)    3  RDMAP control 0x41 (version 1, READ request)
 *    4  reserved (4)                                    8  queue number = 1
 *   12  message sequence number                        16  message offset = 0
 *   20  sink STag       24  sink tagged offset (8)     32  message size
 *   36  source STag     40  source tagged offset (8)   48  CRC field
 *
 *   READ response, one FPDU per segment of at most 65516 payload bytes; the responder writes it
 *    0  ULPDU length = 14 + payload
 *    2  DDP control 0xC1 on the last segment, 0x81 before it (tagged, version 1)
 *    3  RDMAP control 0x42 (version 1, READ response)
 *    4  sink STag        8  sink tagged offset (8)     16  payload, zero padding to 4, CRC field (4)
 *
 *   WRITE, as a READ response but for 0x40 (version 1, WRITE); the initiator writes it
 *
 *   SEND, one FPDU per segment of at most 65516 payload bytes; either side writes it
 *    0  ULPDU length = 18 + payload
 *    2  DDP control 0x41 on the last segment, 0x01 before it (untagged, version 1)
 *    3  RDMAP control 0x43 (version 1, SEND)
 *    4  reserved (4)     8  queue number = 0           12  message sequence number
 *   16  message offset  20  payload, zero padding to 4, CRC field (4)
 */
#ifndef IWARP_H
#define IWARP_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum {
    MPA_KEY_LENGTH = 16,
    MPA_FLAGS_OFFSET = MPA_KEY_LENGTH,
    MPA_REVISION_OFFSET = MPA_FLAGS_OFFSET + 1,
    MPA_PRIVATE_DATA_LENGTH_OFFSET = MPA_REVISION_OFFSET + 1,
    MPA_HEADER_LENGTH = MPA_PRIVATE_DATA_LENGTH_OFFSET + 2,
    MPA_MAX_PRIVATE_DATA = 512,
    MPA_IRD_OFFSET = MPA_HEADER_LENGTH,
    MPA_ORD_OFFSET = MPA_IRD_OFFSET + 2,
    MPA_ENHANCED_LENGTH = 4,

    MPA_FLAG_MARKERS = 0x80,
    MPA_FLAG_CRC = 0x40,
    MPA_FLAG_REJECT = 0x20,
    MPA_FLAG_ENHANCED = 0x10,

    MPA_DEPTH_MASK = 0x3FFF,       /* of the IRD and ORD words; all ones = not negotiated here */
    MPA_IRD_PEER_TO_PEER = 0x8000, /* RFC 6581's A, in the IRD word; B, 0x4000, is RTR by SEND */
    MPA_ORD_RTR_WRITE = 0x8000,    /* RFC 6581's C, in the ORD word; D, 0x4000, is RTR by READ */

    FPDU_CRC_LENGTH = 4,
    DDP_CONTROL_OFFSET = 2,
    RDMAP_CONTROL_OFFSET = DDP_CONTROL_OFFSET + 1,

    READ_QUEUE_NUMBER_OFFSET = RDMAP_CONTROL_OFFSET + 1 + 4,
    READ_MSN_OFFSET = READ_QUEUE_NUMBER_OFFSET + 4,
    READ_MESSAGE_OFFSET_OFFSET = READ_MSN_OFFSET + 4,
    READ_SINK_STAG_OFFSET = READ_MESSAGE_OFFSET_OFFSET + 4,
    READ_SINK_TO_OFFSET = READ_SINK_STAG_OFFSET + 4,
    READ_SIZE_OFFSET = READ_SINK_TO_OFFSET + 8,
    READ_SOURCE_STAG_OFFSET = READ_SIZE_OFFSET + 4,
    READ_SOURCE_TO_OFFSET = READ_SOURCE_STAG_OFFSET + 4,
    READ_CRC_OFFSET = READ_SOURCE_TO_OFFSET + 8,
    READ_REQUEST_LENGTH = READ_CRC_OFFSET + FPDU_CRC_LENGTH,
    READ_REQUEST_ULPDU_LENGTH = READ_CRC_OFFSET - DDP_CONTROL_OFFSET,
    READ_QUEUE_NUMBER = 1,

    TAGGED_STAG_OFFSET = RDMAP_CONTROL_OFFSET + 1,
    TAGGED_TO_OFFSET = TAGGED_STAG_OFFSET + 4,
    TAGGED_HEADER_LENGTH = TAGGED_TO_OFFSET + 8,
    TAGGED_ULPDU_OVERHEAD = TAGGED_HEADER_LENGTH - DDP_CONTROL_OFFSET,
    SEGMENT_PAYLOAD_MAX = 65516,
    SEGMENT_WIRE_MAX = TAGGED_HEADER_LENGTH + SEGMENT_PAYLOAD_MAX + FPDU_CRC_LENGTH, /* 65536: a full segment needs no padding */
    RTR_WRITE_LENGTH = TAGGED_HEADER_LENGTH + FPDU_CRC_LENGTH,

    UNTAGGED_QUEUE_NUMBER_OFFSET = RDMAP_CONTROL_OFFSET + 1 + 4,
    UNTAGGED_MSN_OFFSET = UNTAGGED_QUEUE_NUMBER_OFFSET + 4,
    UNTAGGED_MESSAGE_OFFSET_OFFSET = UNTAGGED_MSN_OFFSET + 4,
    UNTAGGED_HEADER_LENGTH = UNTAGGED_MESSAGE_OFFSET_OFFSET + 4,
    UNTAGGED_ULPDU_OVERHEAD = UNTAGGED_HEADER_LENGTH - DDP_CONTROL_OFFSET,
    SEND_QUEUE_NUMBER = 0,

    DDP_UNTAGGED = 0x01,
    DDP_UNTAGGED_LAST = 0x41,
    DDP_TAGGED = 0x81,
    DDP_TAGGED_LAST = 0xC1,
    RDMAP_WRITE = 0x40,
    RDMAP_READ_REQUEST = 0x41,
    RDMAP_READ_RESPONSE = 0x42,
    RDMAP_SEND = 0x43,
};

static const char MPA_REQUEST_KEY[MPA_KEY_LENGTH + 1] = "MPA ID Req Frame";
static const char MPA_REPLY_KEY[MPA_KEY_LENGTH + 1] = "MPA ID Rep Frame";

static inline uint16_t get16(const uint8_t *at) { uint16_t v; memcpy(&v, at, sizeof v); return be16toh(v); }
static inline uint32_t get32(const uint8_t *at) { uint32_t v; memcpy(&v, at, sizeof v); return be32toh(v); }
static inline uint64_t get64(const uint8_t *at) { uint64_t v; memcpy(&v, at, sizeof v); return be64toh(v); }
static inline void put16(uint8_t *at, uint16_t v) { v = htobe16(v); memcpy(at, &v, sizeof v); }
static inline void put32(uint8_t *at, uint32_t v) { v = htobe32(v); memcpy(at, &v, sizeof v); }
static inline void put64(uint8_t *at, uint64_t v) { v = htobe64(v); memcpy(at, &v, sizeof v); }

/* Zero padding that brings an FPDU of that payload to a multiple of four (headers with the length word are 16 and 20 bytes). */
static inline uint32_t padding_of(uint32_t payload) { return -payload & 3; }

/* Bytes on the wire of the whole response to a READ of that size; a READ of nothing is answered by one empty segment. */
static inline uint64_t response_length(uint32_t size)
{
    uint32_t full = size == 0 ? 0 : (size - 1) / SEGMENT_PAYLOAD_MAX;
    uint32_t last = size - full * SEGMENT_PAYLOAD_MAX;
    return (uint64_t)full * SEGMENT_WIRE_MAX + TAGGED_HEADER_LENGTH + last + padding_of(last) + FPDU_CRC_LENGTH;
}

/* The yardstick's memory content: byte i of the region is (i * 31 + 7) & 0xff. */
static inline uint8_t pattern_at(uint64_t i) { return (uint8_t)(i * 31 + 7); }

#endif
