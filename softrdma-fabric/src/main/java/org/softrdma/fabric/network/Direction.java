package org.softrdma.fabric.network;

import java.lang.foreign.MemorySegment;
import java.net.InetAddress;
import java.util.ArrayDeque;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;
import org.softrdma.fabric.scheduler.Scheduler;
import org.softrdma.fabric.scheduler.Source;
import org.softrdma.net.memory.NativeMemory;

/**
 * One direction of a connection: a ring of bytes that are sent and not received yet, of which the first ones have
 * arrived. Behind them comes the end of the stream or a reset.
 */
final class Direction implements Inspector.Passage {
    private final Scheduler scheduler;
    private final NetworkSettings settings;
    private final Copier copier;
    private final Path path;
    private final Inspector inspector;
    private final Reachability reachability;
    private final SentMessages messages = new SentMessages();
    private final Impairment impairment = new Impairment();
    private final MemorySegment ring;
    private final ArrayDeque<TcpSegment> underWay = new ArrayDeque<>();
    private final CRC32C checksum = new CRC32C();
    /** Sent, arrived and received bytes since the beginning. */
    private long sent;

    private long arrived;
    private long received;
    /** Bytes sent of which the inspector has been told. */
    private long told = -1;

    private long lastDueNs;
    private int corruption;
    /** Until then it takes no bytes although it has room; {@link Source#NEVER} if it does. */
    private long fullUntilNs = Source.NEVER;

    private boolean endSent;
    private boolean ended;
    private boolean reset;
    private boolean dead;
    private @Nullable FabricSocket receiver;
    private @Nullable FabricSocket sender;

    /**
     * Where it goes.
     *
     * @param from the sender's host
     * @param to the receiver's host
     * @param connection which one between the two, from 1
     */
    record Path(InetAddress from, InetAddress to, int connection) {}

    Direction(Medium medium, Path path) {
        scheduler = medium.scheduler();
        settings = medium.settings();
        copier = medium.copier();
        inspector = medium.inspector();
        reachability = medium.reachability();
        this.path = path;
        ring = copier.allocate(settings.bufferBytes());
    }

    void receiver(FabricSocket end) {
        receiver = end;
    }

    void sender(FabricSocket end) {
        sender = end;
    }

    /** Its reader is slow, or no longer. */
    void pace(Impairment.Pace pace) {
        impairment.pace(pace);
    }

    // ---- the sender

    /** Bytes that it takes now: none behind the end, of which its sender may not know yet. */
    int room() {
        return isFull() || endSent || dead ? 0 : (int) (settings.bufferBytes() - (sent - received));
    }

    /**
     * Takes what it has room for; perhaps less, if the seed says so, or something goes wrong in the middle. A frame of a
     * handshake is taken whole, as a kernel would, also if something goes wrong in the middle.
     */
    int send(long address, long length) {
        boolean handshake = !messages.isStreaming();
        int done = sendPart(address, length, handshake);
        while (handshake && done > 0 && done < length) {
            int more = sendPart(address + done, length - done, handshake);
            if (dead || endSent) {
                return (int) length; // the sender learns later that the rest goes nowhere
            }
            if (more == 0) {
                break;
            }
            done += more;
        }
        return done;
    }

    private int sendPart(long address, long length, boolean handshake) {
        if (told < sent) {
            told = sent;
            if (inspector.next(this, sent) == sent) {
                inspector.sent(this);
            }
        }
        if (dead || endSent || (!handshake && fills())) {
            return 0;
        }
        int most = (int) Math.min(Math.min(length, room()), inspector.next(this, sent + 1) - sent);
        // Where nothing is under way a kernel takes all that it has room for.
        if (most > 1 && sent > received && scheduler.choices().chance(settings.cuts())) {
            most = 1 + scheduler.choices().below(most);
        }
        int done = 0;
        int unsent = 0;
        while (done < most && !dead && !endSent) {
            int count = messages.scan(address + done, most - done);
            put(address + done, count);
            done += count;
            unsent += count;
            Inspector.Message begun = messages.begun(sender);
            if (begun != null) {
                unsent = begins(begun, unsent);
            }
        }
        dispatch(unsent);
        return done;
    }

    private void put(long address, int count) {
        for (int done = 0; done < count; ) {
            int at = (int) ((sent + done) % settings.bufferBytes());
            int here = Math.min(count - done, settings.bufferBytes() - at);
            copier.copy(address + done, ring.address() + at, here);
            checksum.update(ring.asSlice(at, here).asByteBuffer());
            done += here;
        }
        corrupt();
        sent += count;
    }

    /** Bytes are on their way from now on. */
    private void dispatch(int count) {
        if (count > 0) {
            underWay.addLast(new TcpSegment(TcpSegment.Kind.BYTES, count, dueNs()));
        }
    }

    /**
     * A message begins: whoever is told of it finds on its way what was sent before. Returns the bytes that are not.
     */
    private int begins(Inspector.Message message, int unsent) {
        if (!inspector.awaits(this, message)) {
            return unsent;
        }
        dispatch(unsent);
        inspector.begun(this, message);
        return 0;
    }

    /** A kernel may have no memory for a while: then a send takes nothing, whatever is under way. */
    private boolean fills() {
        if (!isFull() && messages.isStreaming() && scheduler.choices().chance(settings.fullBuffers())) {
            fullUntilNs = scheduler.nanoTime() + scheduler.choices().between(1, settings.mostFullNs());
            scheduler.note("no room for a while", fullUntilNs - scheduler.nanoTime());
        }
        return isFull();
    }

    private boolean isFull() {
        return fullUntilNs != Source.NEVER;
    }

    private void corrupt() {
        if (corruption != 0) {
            long at = ring.address() + sent % settings.bufferBytes();
            NativeMemory.putByte(at, NativeMemory.bytes(at, 1)[0] ^ corruption);
            corruption = 0;
        }
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
    public int connection() {
        return path.connection();
    }

    @Override
    public long sentBytes() {
        return sent;
    }

    @Override
    public void delay(long ns) {
        scheduler.note("bytes are delayed", ns);
        underWay.forEach(segment -> segment.dueNs += ns);
        lastDueNs = Math.max(lastDueNs, scheduler.nanoTime()) + ns;
    }

    @Override
    public void corruptNext(int bit) {
        scheduler.note("a bit changes", bit);
        corruption = 1 << bit;
    }

    @Override
    public void reset() {
        FabricSocket end = receiver;
        if (end != null) {
            end.resetByNetwork();
        }
    }

    @Override
    public void cut() {
        scheduler.note("a stream is cut", sent);
        FabricSocket end = receiver;
        if (end != null && !endSent && !dead) {
            underWay.addLast(new TcpSegment(TcpSegment.Kind.RESET, 0, dueNs()));
            endSent = true;
            end.cutByNetwork();
        }
    }

    @Override
    public void stall(long ns) {
        scheduler.note("a stream is stalled", ns);
        impairment.stall(scheduler.nanoTime(), ns);
    }

    @Override
    public void slow(int bytes, long perNs) {
        scheduler.note("a reader is slow", bytes);
        impairment.pace(new Impairment.Pace(bytes, perNs));
    }

    /** How long nothing has arrived here because of a stall. */
    long stalledNs() {
        return impairment.silentNs(scheduler.nanoTime());
    }

    /** Of everything sent so far. */
    long checksum() {
        return checksum.getValue();
    }

    void sendEnd() {
        if (!endSent && !dead) {
            endSent = true;
            underWay.addLast(new TcpSegment(TcpSegment.Kind.END, 0, dueNs()));
        }
    }

    /** What has not arrived is lost. */
    void sendReset() {
        if (!dead) {
            endSent = true;
            underWay.clear();
            underWay.addLast(new TcpSegment(TcpSegment.Kind.RESET, 0, dueNs()));
        }
    }

    /** Whatever is under way, the receiver finds the connection reset. */
    void breakOff() {
        underWay.clear();
        endSent = true;
        reset = true;
        dead = true;
        FabricSocket end = receiver;
        if (end != null) {
            end.arrived();
        }
    }

    /** In order: nothing overtakes what was sent before. */
    private long dueNs() {
        long latencyNs = scheduler.choices().between(settings.leastLatencyNs(), settings.mostLatencyNs());
        lastDueNs = Math.max(lastDueNs, scheduler.nanoTime() + latencyNs);
        return lastDueNs;
    }

    // ---- the network

    long nextNs() {
        return Math.min(nextArrivalNs(), fullUntilNs);
    }

    private long nextArrivalNs() {
        TcpSegment first = underWay.peekFirst();
        return first == null || dead
                ? Source.NEVER
                : Math.max(Math.max(first.dueNs, impairment.openAtNs()), reachability.openAtNs(path.from(), path.to()));
    }

    /** Takes bytes again, or delivers what is due next, or a part of it. */
    void step() {
        if (fullUntilNs <= scheduler.nanoTime()) {
            fullUntilNs = Source.NEVER;
            FabricSocket end = sender;
            if (end != null) {
                end.roomMade();
            }
        } else {
            deliver();
        }
    }

    private void deliver() {
        TcpSegment segment = underWay.getFirst();
        switch (segment.kind) {
            case BYTES -> arrive(segment);
            case END -> {
                underWay.removeFirst();
                ended = true;
                scheduler.note("end of stream arrives", 0);
            }
            case RESET -> {
                underWay.removeFirst();
                reset = true;
                dead = true;
                scheduler.note("reset arrives", 0);
            }
        }
        FabricSocket end = receiver;
        if (end != null) {
            end.arrived();
        }
    }

    private void arrive(TcpSegment segment) {
        int count = segment.bytes;
        if (count > 1 && scheduler.choices().chance(settings.cuts())) {
            count = 1 + scheduler.choices().below(count);
        }
        count = impairment.arrive(scheduler.nanoTime(), count);
        segment.bytes -= count;
        if (segment.bytes == 0) {
            underWay.removeFirst();
        } else {
            segment.dueNs = scheduler.nanoTime() + 1;
        }
        arrived += count;
        scheduler.note("bytes arrive", count);
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
        FabricSocket end = receiver;
        return underWay.isEmpty() && !isFull() && (dead || (ended && (end == null || end.isClosed())));
    }

    boolean hasUnread() {
        return arrived > received || (!underWay.isEmpty() && underWay.getFirst().kind == TcpSegment.Kind.BYTES);
    }
}
