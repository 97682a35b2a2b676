package org.softrdma.bench.rping;

import java.io.PrintWriter;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.bench.perf.Completions;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;
import org.softrdma.verbs.CompletionStatus;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.PostStatus;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.QueuePair;
import org.softrdma.verbs.QueuePairAttributes;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * One end of a ping: a queue pair, the buffers of its messages, and the wait for the next step. A work request carries its
 * opcode's ordinal as wrId, which is all that a failed completion tells. Belongs to the thread that made it.
 */
final class RpingEndpoint implements AutoCloseable {
    static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(30);

    private static final int SENDS = 16;
    private static final int RECEIVES = 2;
    private static final int COMPLETIONS_PER_POLL = 16;
    private static final long SEND_OFFSET = RECEIVES * Advertisement.BYTES;
    private static final int RECEIVE_SHIFT = 8;
    private static final int OPCODE_MASK = (1 << RECEIVE_SHIFT) - 1;
    private static final CompletionOpcode[] OPCODES = CompletionOpcode.values();

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private final VerbsDevice device;
    private final RpingOptions options;
    private final PrintWriter out;
    private final ProtectionDomain domain;
    private final Completions completions;
    private final MemoryRegion messages;
    private final QueuePairAttributes attributes;
    private final WorkCompletion[] polled = WorkCompletion.array(COMPLETIONS_PER_POLL);
    private final Queue<RemoteRegion> received = new ArrayDeque<>();
    private @Nullable QueuePair queuePair;
    private int reads;
    private int writes;
    private boolean ended;

    /**
     * An end without a queue pair.
     *
     * @param device not closed by this
     * @param options what to do
     * @param out where steps are told
     */
    RpingEndpoint(VerbsDevice device, RpingOptions options, PrintWriter out) {
        this.device = device;
        this.options = options;
        this.out = out;
        try {
            domain = opened(device.allocateProtectionDomain());
            completions = opened(new Completions(device));
            messages = register(
                    SEND_OFFSET + Advertisement.BYTES, Set.of(AccessFlag.LOCAL_WRITE, AccessFlag.RECEIVE_SINK));
            attributes = QueuePairAttributes.of(completions.add(SENDS + RECEIVES), QueuePairLimits.of(SENDS, RECEIVES));
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    /**
     * Memory for a ping.
     *
     * @param length bytes
     * @param access what it is for
     */
    MemoryRegion register(long length, Set<AccessFlag> access) {
        HostMemory memory = opened(device.allocateMemory(length));
        return opened(domain.register(memory.segment(), access));
    }

    /**
     * Creates the queue pair with its RECVs.
     *
     * @param creator how, given domain and attributes: on a connector or a request
     */
    void create(Creator creator) {
        QueuePair created = opened(creator.create(domain, attributes));
        queuePair = created;
        for (int i = 0; i < RECEIVES; i++) {
            postReceive(i);
        }
    }

    /** How a queue pair comes to be. */
    @FunctionalInterface
    interface Creator {
        QueuePair create(ProtectionDomain domain, QueuePairAttributes attributes);
    }

    /** The queue pair. */
    QueuePair queuePair() {
        if (queuePair == null) {
            throw new IllegalStateException("this end has no queue pair yet");
        }
        return queuePair;
    }

    /**
     * SENDs an advertisement.
     *
     * @param region the buffer; for "go ahead" any
     */
    void send(RemoteRegion region) {
        Advertisement.write(messages.memory().asSlice(SEND_OFFSET, Advertisement.BYTES), region);
        require(
                queuePair()
                        .postSend(
                                CompletionOpcode.SEND.ordinal(),
                                messages,
                                SEND_OFFSET,
                                Advertisement.BYTES,
                                SendFlags.SIGNALLED),
                "SEND");
    }

    /**
     * Waits for the peer's next message.
     *
     * @return what it advertises, null if the peer has disconnected
     */
    @Nullable
    RemoteRegion receive() {
        while (received.isEmpty() && !ended) {
            turn("a message");
        }
        return received.poll();
    }

    /**
     * READs and waits until the data is here.
     *
     * @param sink where it goes, from its start
     * @param source the peer's buffer, not longer than the sink
     * @return false if the peer has disconnected
     */
    boolean read(MemoryRegion sink, RemoteRegion source) {
        int before = reads;
        require(
                queuePair()
                        .postRead(
                                CompletionOpcode.READ.ordinal(),
                                sink,
                                0,
                                source.length(),
                                source.address(),
                                source.rkey(),
                                SendFlags.SIGNALLED),
                "READ");
        while (reads == before) {
            turn("the READ's data");
        }
        return !ended;
    }

    /**
     * WRITEs and waits until it is done.
     *
     * @param source where it comes from, from its start
     * @param length bytes
     * @param sink the peer's buffer
     * @return false if the peer has disconnected
     */
    boolean write(MemoryRegion source, long length, RemoteRegion sink) {
        int before = writes;
        require(
                queuePair()
                        .postWrite(
                                CompletionOpcode.WRITE.ordinal(),
                                source,
                                0,
                                length,
                                sink.address(),
                                sink.rkey(),
                                SendFlags.SIGNALLED),
                "WRITE");
        while (writes == before) {
            turn("the WRITE's end");
        }
        return !ended;
    }

    /** Prints a step if asked to. */
    @SuppressWarnings("AnnotateFormatMethod") // its annotations are not on the class path
    void debug(String format, Object... arguments) {
        if (options.debug()) {
            say(String.format(Locale.ROOT, format, arguments));
        }
    }

    /** Prints a line. */
    void say(String line) {
        out.println(line);
        out.flush();
    }

    private void turn(String what) {
        int count = completions.await(polled, false, TIMEOUT_NS);
        if (count == 0) {
            throw new RpingException("waited " + TimeUnit.NANOSECONDS.toSeconds(TIMEOUT_NS) + " s for " + what
                    + ": is the peer alive, and does it speak rping's protocol?");
        }
        for (int i = 0; i < count; i++) {
            completed(polled[i]);
        }
    }

    private void completed(WorkCompletion completion) {
        CompletionOpcode opcode = OPCODES[(int) completion.wrId() & OPCODE_MASK];
        if (completion.status() == CompletionStatus.FLUSHED) {
            ended = true;
        } else if (!completion.isSuccess()) {
            throw new RpingException("a " + opcode + " ended with " + completion.status() + " (vendor code 0x"
                    + Integer.toHexString(completion.vendorCode()) + ")" + reason());
        } else {
            debug("%s completion", opcode);
        }
        switch (opcode) {
            case READ -> reads++;
            case WRITE -> writes++;
            case RECEIVE -> {
                if (completion.isSuccess()) {
                    received(completion);
                }
            }
            default -> {}
        }
    }

    private void received(WorkCompletion completion) {
        if (completion.byteLength() != Advertisement.BYTES) {
            throw new RpingException("a message of " + completion.byteLength() + " bytes came, expected "
                    + Advertisement.BYTES + ": does the peer speak rping's protocol?");
        }
        int index = (int) (completion.wrId() >>> RECEIVE_SHIFT);
        RemoteRegion region =
                Advertisement.read(messages.memory().asSlice(index * Advertisement.BYTES, Advertisement.BYTES));
        debug("received rkey %x address %x length %d", region.rkey(), region.address(), region.length());
        received.add(region);
        postReceive(index);
    }

    private void postReceive(int index) {
        require(
                queuePair()
                        .postReceive(
                                (long) index << RECEIVE_SHIFT | CompletionOpcode.RECEIVE.ordinal(),
                                messages,
                                index * Advertisement.BYTES,
                                Advertisement.BYTES),
                "RECV");
    }

    /** Why the connection ended, as a further part of a sentence; empty if the provider does not tell. */
    String reason() {
        CompletableFuture<String> told = queuePair().disconnected().toCompletableFuture();
        if (device.manualProgress()) {
            device.progress(0);
        } else {
            // It comes right behind the completions, from a thread of the device.
            told.completeOnTimeout("", 1, TimeUnit.SECONDS).join();
        }
        String reason = told.getNow("");
        return reason.isEmpty() ? "" : ": " + reason;
    }

    private static void require(PostStatus status, String what) {
        if (status != PostStatus.ACCEPTED) {
            throw new RpingException(what + " found its queue full: a fault of softrdma rping or of the provider");
        }
    }

    private <T extends AutoCloseable> T opened(T resource) {
        open.push(resource);
        return resource;
    }

    @Override
    public void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (VerbsException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException("nothing here throws a checked exception on close", e);
            }
        }
    }
}
