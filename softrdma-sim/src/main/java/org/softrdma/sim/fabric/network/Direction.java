package org.softrdma.sim.fabric.network;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.softrdma.sim.fabric.baton.Baton;
import org.softrdma.sim.fabric.baton.Source;
import org.softrdma.sim.memory.NativeMemory;
import org.softrdma.sim.wire.MessageKind;

/**
 * One direction of a connection: a ring of bytes that are sent and not received yet, of which the first ones have arrived. Behind them
 * comes the end of the stream or a reset. Whoever holds the baton.
 */
final class Direction implements Inspector.Passage {
    /** What is on its way. */
    private enum Kind {
        BYTES,
        END,
        RESET
    }

    private static final class Parcel {
        final Kind kind;
        int bytes;
        long dueNs;

        Parcel(Kind kind, int bytes, long dueNs) {
            this.kind = kind;
            this.bytes = bytes;
            this.dueNs = dueNs;
        }
    }

    private final Baton baton;
    private final NetworkSettings settings;
    private final Copier copier;
    private final Path path;
    private final Inspector inspector;
    private final Reachability reachability;
    private final MessageScanner scanner = new MessageScanner(this::begun);
    private final int[] messages = new int[MessageKind.values().length];
    private final MemorySegment ring;
    private final ArrayDeque<Parcel> underWay = new ArrayDeque<>();
    private final CRC32C checksum = new CRC32C();
    /** Sent, arrived and received bytes since the beginning. */
    private long sent;

    private long arrived;
    private long received;
    /** Bytes sent of which the inspector has been told. */
    private long told = -1;

    private long lastDueNs;
    private int corruption;
    private boolean endSent;
    private boolean ended;
    private boolean reset;
    private boolean dead;
    private @Nullable Receiver receiver;

    /**
     * Where it goes.
     *
     * @param from the sender's host
     * @param to the receiver's host
     */
    record Path(InetAddress from, InetAddress to) {}

    Direction(Medium medium, Path path) {
        baton = medium.baton();
        settings = medium.settings();
        copier = medium.copier();
        inspector = medium.inspector();
        reachability = medium.reachability();
        this.path = path;
        ring = copier.allocate(settings.bufferBytes());
    }

    void receiver(Receiver end) {
        receiver = end;
    }

    // ---- the sender

    int room() {
        return (int) (settings.bufferBytes() - (sent - received));
    }

    /** Takes what it has room for; perhaps less, if the seed says so, or something goes wrong in the middle. */
    int send(long address, long length) {
        if (told < sent) {
            told = sent;
            if (inspector.next(this, sent) == sent) {
                inspector.sent(this);
            }
        }
        if (dead || endSent) {
            return 0;
        }
        int most = (int) Math.min(Math.min(length, room()), inspector.next(this, sent + 1) - sent);
        // Where nothing is under way a kernel takes all that it has room for.
        if (most > 1 && sent > received && baton.choices().chance(settings.cuts())) {
            most = 1 + baton.choices().below(most);
        }
        for (int done = 0; done < most; ) {
            int at = (int) ((sent + done) % settings.bufferBytes());
            int here = Math.min(most - done, settings.bufferBytes() - at);
            copier.copy(address + done, ring.address() + at, here);
            checksum.update(ring.asSlice(at, here).asByteBuffer());
            done += here;
        }
        if (most > 0) {
            corrupt();
            sent += most;
            underWay.addLast(new Parcel(Kind.BYTES, most, dueNs()));
            scanner.scan(address, most);
        }
        return most;
    }

    private void corrupt() {
        if (corruption != 0) {
            long at = ring.address() + sent % settings.bufferBytes();
            NativeMemory.putByte(at, NativeMemory.bytes(at, 1)[0] ^ corruption);
            corruption = 0;
        }
    }

    private void begun(MessageKind kind) {
        inspector.begun(this, kind, ++messages[kind.ordinal()]);
    }

    // ---- the inspector

    @Override
    public InetAddress from() {
        return path.from();
    }

    @Override
    public InetAddress to() {
        return path.to();
    }

    @Override
    public long sentBytes() {
        return sent;
    }

    @Override
    public void delay(long ns) {
        baton.note("bytes are delayed", ns);
        underWay.forEach(parcel -> parcel.dueNs += ns);
        lastDueNs = Math.max(lastDueNs, baton.nanoTime()) + ns;
    }

    @Override
    public void corruptNext(int bit) {
        baton.note("a bit changes", bit);
        corruption = 1 << bit;
    }

    @Override
    public void reset() {
        Receiver end = receiver;
        if (end != null) {
            end.resetByNetwork();
        }
    }

    /** Of everything sent so far. */
    long checksum() {
        return checksum.getValue();
    }

    void sendEnd() {
        if (!endSent && !dead) {
            endSent = true;
            underWay.addLast(new Parcel(Kind.END, 0, dueNs()));
        }
    }

    /** What has not arrived is lost. */
    void sendReset() {
        if (!dead) {
            endSent = true;
            underWay.clear();
            underWay.addLast(new Parcel(Kind.RESET, 0, dueNs()));
        }
    }

    /** Whatever is under way, the receiver finds the connection reset. */
    void breakOff() {
        underWay.clear();
        endSent = true;
        reset = true;
        dead = true;
        Receiver end = receiver;
        if (end != null) {
            end.arrived();
        }
    }

    /** In order: nothing overtakes what was sent before. */
    private long dueNs() {
        long latencyNs = baton.choices().between(settings.leastLatencyNs(), settings.mostLatencyNs());
        lastDueNs = Math.max(lastDueNs, baton.nanoTime() + latencyNs);
        return lastDueNs;
    }

    // ---- the network

    long nextNs() {
        Parcel first = underWay.peekFirst();
        return first == null || dead
                ? Source.NEVER
                : Math.max(first.dueNs, reachability.openAtNs(path.from(), path.to()));
    }

    /** Delivers what is due next, or a part of it. */
    void deliver() {
        Parcel parcel = underWay.getFirst();
        switch (parcel.kind) {
            case BYTES -> arrive(parcel);
            case END -> {
                underWay.removeFirst();
                ended = true;
                baton.note("end of stream arrives", 0);
            }
            case RESET -> {
                underWay.removeFirst();
                reset = true;
                dead = true;
                baton.note("reset arrives", 0);
            }
        }
        Receiver end = receiver;
        if (end != null) {
            end.arrived();
        }
    }

    private void arrive(Parcel parcel) {
        int count = parcel.bytes;
        if (count > 1 && baton.choices().chance(settings.cuts())) {
            count = 1 + baton.choices().below(count);
        }
        parcel.bytes -= count;
        if (parcel.bytes == 0) {
            underWay.removeFirst();
        } else {
            parcel.dueNs = baton.nanoTime() + 1;
        }
        arrived += count;
        baton.note("bytes arrive", count);
    }

    // ---- the receiver

    int available() {
        return (int) (arrived - received);
    }

    /** Bytes that are there, at most so many; 0 if there are none. */
    int receive(long address, long length) {
        int count = (int) Math.min(length, available());
        for (int done = 0; done < count; ) {
            int at = (int) ((received + done) % settings.bufferBytes());
            int here = Math.min(count - done, settings.bufferBytes() - at);
            copier.copy(ring.address() + at, address + done, here);
            done += here;
        }
        received += count;
        return count;
    }

    /** The end has come, and everything before it was received. */
    boolean isAtEnd() {
        return ended && available() == 0;
    }

    boolean isEnded() {
        return ended;
    }

    boolean isReset() {
        return reset;
    }

    /** Nobody receives any more: what is under way goes nowhere. */
    void die() {
        dead = true;
        underWay.clear();
    }

    /** Nothing is or will be on its way: what has ended can still be reset while its receiver is there. */
    boolean isOver() {
        Receiver end = receiver;
        return underWay.isEmpty() && (dead || (ended && (end == null || end.isClosed())));
    }

    boolean hasUnread() {
        return arrived > received || (!underWay.isEmpty() && underWay.getFirst().kind == Kind.BYTES);
    }
}
