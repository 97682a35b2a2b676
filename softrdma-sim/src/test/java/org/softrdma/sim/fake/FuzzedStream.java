package org.softrdma.sim.fake;

import java.nio.ByteBuffer;
import java.util.List;
import java.util.Random;
import org.softrdma.net.peer.TestBytes;
import org.softrdma.sim.peer.Frames;

/** What a hostile peer says: valid frames in their order, and now and then one that went wrong at random. */
final class FuzzedStream {
    private static final int WRONG_ONE_IN = 8;
    private static final int LARGEST = 40_000;

    // Offsets in a segment, which has no MPA length.
    private static final int STAG = 2;
    private static final int TAGGED_OFFSET = 6;
    private static final int QUEUE = 6;
    private static final int MSN = 10;
    private static final int MESSAGE_OFFSET = 14;
    private static final int READ_SINK = 18;
    private static final int READ_LENGTH = 30;
    private static final int READ_SOURCE = 34;
    private static final int READ_SOURCE_OFFSET = 38;
    private static final int READ_END = 46;
    private static final int WORD_STAG = 26;
    private static final int WORD_OFFSET = 30;
    private static final int ATOMIC_END = 70;

    private final Random random;
    private final FuzzPlot plot;
    /** Says nothing but the messages of RFC 7306. */
    private final boolean extendedOnly;

    private boolean crc;
    private boolean wrong;
    private int sendMsn = 1;
    private int sendOffset;
    private int readMsn = 1;
    private int response;
    private int responseOffset;

    FuzzedStream(Random random, FuzzPlot plot) {
        this(random, plot, false);
    }

    FuzzedStream(Random random, FuzzPlot plot, boolean extendedOnly) {
        this.random = random;
        this.plot = plot;
        this.extendedOnly = extendedOnly;
    }

    /** A request, most often a valid one. */
    byte[] handshake() {
        byte[] upper = bytes(random.nextInt(3) == 0 ? random.nextInt(60) : 0);
        int flags = random.nextInt(3) == 0 ? Frames.CRC : 0;
        byte[] frame = random.nextInt(6) == 0
                ? Frames.mpa(Frames.REQUEST_KEY, flags, 1 + random.nextInt(2), upper)
                : Frames.mpa(
                        Frames.REQUEST_KEY,
                        flags | Frames.ENHANCED,
                        2,
                        Frames.depths(
                                random.nextBoolean()
                                        ? 0
                                        : Frames.PEER_TO_PEER | Frames.RTR_WRITE | random.nextInt(2) * Frames.RTR_READ,
                                random.nextInt(9),
                                random.nextInt(9),
                                upper));
        return perhapsDamaged(frame);
    }

    /** A reply, most often one that makes a connection. */
    byte[] reply() {
        byte[] upper = bytes(random.nextInt(3) == 0 ? random.nextInt(60) : 0);
        int flags = (random.nextInt(3) == 0 ? Frames.CRC : 0)
                | (random.nextInt(12) == 0 ? Frames.REJECTED : 0)
                | (random.nextInt(12) == 0 ? Frames.MARKERS : 0);
        if (random.nextInt(12) == 0) {
            return perhapsDamaged(Frames.mpa(Frames.REPLY_KEY, flags, 1 + random.nextInt(2), upper));
        }
        int control = random.nextInt(8) == 0 ? random.nextInt() : Frames.PEER_TO_PEER | Frames.RTR_WRITE;
        return perhapsDamaged(Frames.mpa(
                Frames.REPLY_KEY,
                flags | Frames.ENHANCED,
                2,
                Frames.depths(
                        control & (Frames.PEER_TO_PEER | Frames.RTR_SEND | Frames.RTR_WRITE | Frames.RTR_READ),
                        random.nextInt(9),
                        random.nextInt(9),
                        upper)));
    }

    private byte[] perhapsDamaged(byte[] frame) {
        if (random.nextInt(WRONG_ONE_IN) != 0) {
            return frame;
        }
        wrong = true;
        return switch (random.nextInt(5)) {
            case 0 -> flip(frame, 24);
            case 1 -> put(frame, 18, (short) (random.nextBoolean() ? random.nextInt(5) : random.nextInt()));
            case 2 -> TestBytes.slice(frame, 0, random.nextInt(frame.length));
            case 3 -> garbage();
            default -> put(frame, 16, (short) random.nextInt());
        };
    }

    /** True if both sides will use CRCs after this request. */
    static boolean asksForCrc(byte[] handshake) {
        return handshake.length > 16 && (handshake[16] & Frames.CRC) != 0;
    }

    /** True if the initiator has to say something before the connection is there. */
    static boolean isPeerToPeer(byte[] handshake) {
        return handshake.length > 20
                && handshake[17] == 2
                && (handshake[16] & Frames.ENHANCED) != 0
                && (handshake[20] & 0x80) != 0;
    }

    /** From now on FPDUs have a CRC, or not. */
    void crc(boolean on) {
        crc = on;
    }

    /** True if something has gone wrong. */
    boolean isWrong() {
        return wrong;
    }

    /** Ready-to-receive, most often a valid one. */
    byte[] readyToReceive() {
        return perhapsWrong(Frames.tagged(Frames.WRITE, true, 0, 0));
    }

    /** The next frame, most often a valid one. */
    byte[] frame() {
        return perhapsWrong(segment());
    }

    /** Anything. */
    byte[] garbage() {
        return bytes(1 + random.nextInt(200));
    }

    // ---- valid segments

    private byte[] segment() {
        return extendedOnly ? extendedSegment() : anySegment();
    }

    private byte[] extendedSegment() {
        int choice = random.nextInt(8);
        if (choice < 2 && response < FuzzPlot.ATOMICS) {
            return atomicResponse();
        } else if (choice < 4 && sendMsn <= FuzzPlot.RECEIVES.length) {
            return Frames.immediate(random.nextBoolean(), sendMsn++, random.nextInt());
        }
        return atomicRequest();
    }

    private byte[] anySegment() {
        int choice = random.nextInt(40);
        if (choice == 0) {
            return terminate();
        } else if (choice < 12 && sendMsn <= FuzzPlot.RECEIVES.length) {
            return send();
        } else if (choice < 20 && response < FuzzPlot.ATOMICS) {
            return atomicResponse();
        } else if (choice < 20 && response < FuzzPlot.ATOMICS + FuzzPlot.READS.length) {
            return response();
        } else if (choice < 25) {
            return readRequest();
        } else if (choice < 28) {
            return atomicRequest();
        } else if (choice < 30 && sendMsn <= FuzzPlot.RECEIVES.length && sendOffset == 0) {
            return Frames.immediate(random.nextBoolean(), sendMsn++, random.nextInt());
        }
        byte[] payload = payload(LARGEST);
        FuzzPlot.Place target = plot.target();
        return Frames.tagged(
                Frames.WRITE,
                random.nextInt(3) > 0,
                target.stag(),
                target.offset() + random.nextInt(target.length() - payload.length + 1),
                payload);
    }

    private byte[] send() {
        byte[] payload = payload(FuzzPlot.RECEIVES[sendMsn - 1] - sendOffset);
        boolean last = random.nextInt(4) > 0;
        int opcode = random.nextInt(4) == 0 ? Frames.SEND_SOLICITED : Frames.SEND;
        byte[] segment = Frames.untagged(opcode, last, 0, sendMsn, sendOffset, payload);
        sendOffset += payload.length;
        if (last) {
            sendMsn++;
            sendOffset = 0;
        }
        return segment;
    }

    private byte[] response() {
        FuzzPlot.Place sink = plot.sink(response - FuzzPlot.ATOMICS);
        int left = sink.length() - responseOffset;
        byte[] payload = random.nextInt(left < 1000 ? 2 : 8) == 0 ? bytes(left) : payload(left);
        boolean last = payload.length == left;
        byte[] segment =
                Frames.tagged(Frames.READ_RESPONSE, last, sink.stag(), sink.offset() + responseOffset, payload);
        responseOffset += payload.length;
        if (last) {
            response++;
            responseOffset = 0;
        }
        return segment;
    }

    private byte[] atomicResponse() {
        response++;
        return Frames.atomicResponse(response, response, random.nextLong());
    }

    private byte[] atomicRequest() {
        FuzzPlot.Place words = plot.words();
        return Frames.untagged(
                Frames.ATOMIC_REQUEST,
                true,
                1,
                readMsn++,
                0,
                Frames.atomicBody(
                        random.nextBoolean() ? Frames.FETCH_ADD : Frames.COMPARE_SWAP,
                        random.nextInt(),
                        words.stag(),
                        words.offset() + random.nextInt(words.length() / Long.BYTES) * 8L,
                        random.nextLong(),
                        random.nextBoolean() ? -1 : random.nextLong(),
                        random.nextLong(),
                        random.nextBoolean() ? 0 : random.nextLong()));
    }

    private byte[] readRequest() {
        FuzzPlot.Place from = random.nextBoolean() ? plot.target() : plot.source();
        int length = size(LARGEST);
        return Frames.readRequest(
                readMsn++,
                random.nextInt(),
                random.nextLong(),
                length,
                from.stag(),
                from.offset() + random.nextInt(from.length() - length + 1));
    }

    private byte[] terminate() {
        byte[] about = Frames.readRequest(random.nextInt(4), 1, 2, 3, 4, 5);
        boolean header = random.nextBoolean();
        return Frames.terminate(random.nextInt(0x1_0000), about, header, header && random.nextBoolean());
    }

    private int size(int most) {
        int dice = random.nextInt(200);
        int wanted = dice < 160 ? random.nextInt(64) : dice < 197 ? random.nextInt(1200) : random.nextInt(LARGEST);
        return Math.min(most, wanted);
    }

    private byte[] payload(int most) {
        return bytes(size(most));
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    // ---- what goes wrong

    private byte[] perhapsWrong(byte[] segment) {
        if (random.nextInt(WRONG_ONE_IN) != 0) {
            return Frames.fpdu(segment, crc);
        }
        wrong = true;
        boolean tagged = (segment[0] & 0x80) != 0;
        boolean read = !tagged && (segment[1] & 0xF) == Frames.READ_REQUEST && segment.length == READ_END;
        boolean atomic = !tagged && (segment[1] & 0xF) == Frames.ATOMIC_REQUEST && segment.length == ATOMIC_END;
        return switch (random.nextInt(16)) {
            case 0 -> fpdu(flip(segment, READ_END));
            case 1 -> fpdu(put(segment, 0, (short) (segment[0] << 8 | (segment[1] & 0xF0) | random.nextInt(16))));
            case 2 -> fpdu(put(segment, 0, (short) random.nextInt()));
            case 3 -> fpdu(put(segment, tagged ? STAG : QUEUE, tagged ? stag() : random.nextInt(4)));
            case 4 -> fpdu(put(segment, tagged ? STAG : MSN, tagged ? stag() : near(sendMsn)));
            case 5 ->
                fpdu(tagged ? place(segment, STAG, TAGGED_OFFSET) : put(segment, MESSAGE_OFFSET, near(sendOffset)));
            case 6 ->
                fpdu(
                        read
                                ? place(segment, READ_SOURCE, READ_SOURCE_OFFSET)
                                : atomic ? place(segment, WORD_STAG, WORD_OFFSET) : flip(segment, 18));
            case 7 ->
                fpdu(
                        read
                                ? put(segment, READ_LENGTH, near(0))
                                : tagged ? put(segment, TAGGED_OFFSET, offset(plot.target())) : flip(segment, 2));
            case 8 -> fpdu(read ? put(segment, READ_SOURCE, stag()) : tagged ? put(segment, STAG, stag()) : segment);
            case 9 -> put(Frames.fpdu(segment, crc), 0, (short) near(segment.length));
            case 10 -> flip(Frames.fpdu(segment, crc), segment.length + 9);
            case 11 -> cut(Frames.fpdu(segment, crc));
            case 12 -> garbage();
            case 13 -> TestBytes.concat(Frames.fpdu(segment, crc), Frames.fpdu(segment, crc));
            case 14 -> fpdu(cut(segment));
            default -> fpdu(TestBytes.concat(segment, bytes(1 + random.nextInt(READ_SINK))));
        };
    }

    private byte[] fpdu(byte[] segment) {
        return Frames.fpdu(segment, crc);
    }

    private byte[] cut(byte[] bytes) {
        return TestBytes.slice(bytes, 0, random.nextInt(bytes.length));
    }

    private byte[] flip(byte[] bytes, int within) {
        byte[] flipped = bytes.clone();
        for (int i = random.nextInt(3); i >= 0; i--) {
            flipped[random.nextInt(Math.min(within, bytes.length))] ^= (byte) (1 << random.nextInt(8));
        }
        return flipped;
    }

    private byte[] place(byte[] segment, int stagAt, int offsetAt) {
        FuzzPlot.Place place = any(plot.places());
        return put(put(segment, stagAt, place.stag()), offsetAt, offset(place));
    }

    private long offset(FuzzPlot.Place place) {
        long end = place.offset() + place.length();
        return switch (random.nextInt(8)) {
            case 0 -> place.offset() - 1 - random.nextInt(64);
            case 1 -> end;
            case 2 -> end - 1 - random.nextInt(64);
            case 3 -> -1L - random.nextInt(64);
            case 4 -> Long.MAX_VALUE - random.nextInt(64);
            case 5 -> random.nextLong();
            case 6 -> place.offset() ^ 1L << random.nextInt(64);
            default -> place.offset();
        };
    }

    private int stag() {
        int stag = any(plot.places()).stag();
        return switch (random.nextInt(4)) {
            case 0 -> random.nextInt();
            case 1 -> stag ^ 1 << random.nextInt(32);
            default -> stag;
        };
    }

    private int near(int right) {
        return switch (random.nextInt(6)) {
            case 0 -> right + 1;
            case 1 -> right - 1;
            case 2 -> random.nextInt(20);
            case 3 -> -1;
            case 4 -> Integer.MIN_VALUE;
            default -> random.nextInt();
        };
    }

    private FuzzPlot.Place any(List<FuzzPlot.Place> places) {
        return places.get(random.nextInt(places.size()));
    }

    private static byte[] put(byte[] bytes, int at, int value) {
        byte[] changed = bytes.clone();
        if (at + Integer.BYTES <= changed.length) {
            ByteBuffer.wrap(changed).putInt(at, value);
        }
        return changed;
    }

    private static byte[] put(byte[] bytes, int at, long value) {
        byte[] changed = bytes.clone();
        if (at + Long.BYTES <= changed.length) {
            ByteBuffer.wrap(changed).putLong(at, value);
        }
        return changed;
    }

    private static byte[] put(byte[] bytes, int at, short value) {
        byte[] changed = bytes.clone();
        ByteBuffer.wrap(changed).putShort(at, value);
        return changed;
    }
}
