package org.softrdma.kv.binary;

import java.nio.charset.StandardCharsets;
import org.softrdma.kv.item.KeySlice;

/**
 * One answer up to the value that may follow it: header, extras, key, and the words of a refusal. Made of a request,
 * whose opcode and opaque it repeats. Reused by its owner.
 */
public final class AnswerFrame {
    /** The longest words that an answer may have. */
    public static final int MOST_WORDS = 128;

    private final byte[] bytes = new byte
            [FrameDescriptor.LENGTH + ExtrasDescriptor.FLAGS_LENGTH + BinaryRequest.MAX_KEY_LENGTH + MOST_WORDS];
    private int length;

    /** An empty answer. */
    public AnswerFrame() {}

    /**
     * A refusal of a client that has not asked for anything: the answer to a get with the number 0.
     *
     * @param words ASCII
     */
    public static byte[] unasked(Status status, String words) {
        byte[] text = words.getBytes(StandardCharsets.US_ASCII);
        byte[] whole = new byte[FrameDescriptor.LENGTH + text.length];
        FrameDescriptor.write(
                whole,
                FrameDescriptor.ANSWER_MAGIC,
                BinaryOperation.GET.opcode(),
                status.code(),
                0,
                0,
                text.length,
                0,
                0);
        System.arraycopy(text, 0, whole, FrameDescriptor.LENGTH, text.length);
        return whole;
    }

    /**
     * Success without a body.
     *
     * @param cas the cas number of the item, 0 for none
     */
    public AnswerFrame done(BinaryRequest request, long cas) {
        return header(request, Status.OK, 0, 0, 0, cas);
    }

    /** A refusal in memcached's words. */
    public AnswerFrame refuse(BinaryRequest request, Status status) {
        return refuse(request, status, status.text());
    }

    /**
     * A refusal in other words.
     *
     * @param words ASCII, at most {@link #MOST_WORDS} bytes
     */
    public AnswerFrame refuse(BinaryRequest request, Status status, byte[] words) {
        return text(request, status, words);
    }

    /** A miss of getk and gatk, which repeats the key. */
    public AnswerFrame miss(BinaryRequest request) {
        header(
                request,
                Status.NOT_FOUND,
                0,
                request.key().length(),
                request.key().length(),
                0);
        return key(request);
    }

    /**
     * An item that was found; its value follows.
     *
     * @param withKey whether the key is repeated
     * @param flags of the item
     * @param valueLength bytes of the value that follows
     * @param cas of the item
     */
    public AnswerFrame item(BinaryRequest request, boolean withKey, int flags, int valueLength, long cas) {
        int keyLength = withKey ? request.key().length() : 0;
        int body = ExtrasDescriptor.FLAGS_LENGTH + keyLength + valueLength;
        header(request, Status.OK, ExtrasDescriptor.FLAGS_LENGTH, keyLength, body, cas);
        ExtrasDescriptor.writeFlags(bytes, length, flags);
        length += ExtrasDescriptor.FLAGS_LENGTH;
        return withKey ? key(request) : this;
    }

    /** The number that increment or decrement has stored. */
    public AnswerFrame number(BinaryRequest request, long number, long cas) {
        header(request, Status.OK, 0, 0, Long.BYTES, cas);
        FrameDescriptor.LONG.set(bytes, length, number);
        length += Long.BYTES;
        return this;
    }

    /** Success with words, at most {@link #MOST_WORDS} bytes. */
    public AnswerFrame words(BinaryRequest request, byte[] words) {
        return text(request, Status.OK, words);
    }

    /**
     * The header of one statistic; name and value follow it.
     *
     * @param nameLength bytes of the name, at most 65535
     * @param valueLength bytes of the value
     */
    public AnswerFrame statistic(BinaryRequest request, int nameLength, int valueLength) {
        return header(request, Status.OK, 0, nameLength, nameLength + valueLength, 0);
    }

    private AnswerFrame text(BinaryRequest request, Status status, byte[] words) {
        header(request, status, 0, 0, words.length, 0);
        System.arraycopy(words, 0, bytes, length, words.length);
        length += words.length;
        return this;
    }

    private AnswerFrame key(BinaryRequest request) {
        KeySlice key = request.key();
        System.arraycopy(key.bytes(), key.offset(), bytes, length, key.length());
        length += key.length();
        return this;
    }

    private AnswerFrame header(
            BinaryRequest request, Status status, int extrasLength, int keyLength, int bodyLength, long cas) {
        FrameDescriptor.write(
                bytes,
                FrameDescriptor.ANSWER_MAGIC,
                request.opcode(),
                status.code(),
                extrasLength,
                keyLength,
                bodyLength,
                request.opaque(),
                cas);
        length = FrameDescriptor.LENGTH;
        return this;
    }

    /** The array that holds the answer from its start. */
    public byte[] bytes() {
        return bytes;
    }

    /** Bytes of the answer. */
    public int length() {
        return length;
    }
}
