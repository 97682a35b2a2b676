package org.softrdma.bench.message;

import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import org.softrdma.bench.read.MemoryPattern;
import org.softrdma.bench.read.ReadTargets;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.QueuePairLimits;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.SendFlags;
import org.softrdma.verbs.WorkCompletion;
import org.softrdma.verbs.cm.ConnectionParameters;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * WRITEs to random positions, each connection in a share of the memory of its own. On iWARP nothing answers a WRITE, and its own
 * completion says only that it went to TCP. So a window is a group: as many WRITEs, then a READ of 8 bytes, whose response says that
 * they are in place; then the next group. One WRITE in {@link #VERIFY_INTERVAL} goes where another has just put spoilt bytes, and its
 * READ brings all of it back to be compared.
 */
public final class WriteLoad extends MessageLoad {
    private static final long CONFIRMING_BYTES = 8;

    private final RemoteRegion memory;
    private final long shareBytes;
    private final List<ReadTargets> targets = new ArrayList<>();
    private final boolean[] verifying;
    private final long[] lastOffset;
    private final int[] outstanding;
    private int window;
    private long size;
    private int groupsPerVerification;
    private long groups;

    private WriteLoad(VerbsDevice device, RemoteRegion memory, int connections, int maxWindow, long maxSize) {
        super(device, connections, 1, maxWindow, maxSize, 1, EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.READ_SINK));
        this.memory = memory;
        shareBytes = shareBytes(memory.length(), connections);
        verifying = new boolean[connections];
        lastOffset = new long[connections];
        outstanding = new int[connections];
    }

    /**
     * Connects a load.
     *
     * @param device the device, not closed by this
     * @param responder where the responder listens
     * @param memory what may be read and written there; its content is the pattern
     * @param connections how many connections
     * @param maxWindow largest window
     * @param maxSize longest WRITE
     */
    public static WriteLoad connect(
            VerbsDevice device,
            InetSocketAddress responder,
            RemoteRegion memory,
            int connections,
            int maxWindow,
            long maxSize) {
        if (shareBytes(memory.length(), connections) < maxSize) {
            throw new IllegalArgumentException("memory of " + memory.length() + " bytes: expected room for a WRITE of "
                    + maxSize + " bytes for each of " + connections + " connections");
        }
        WriteLoad load = new WriteLoad(device, memory, connections, maxWindow, maxSize);
        try {
            for (int i = 0; i < connections; i++) {
                // A group, spoilt bytes and a READ.
                load.connect(device, responder, QueuePairLimits.of(maxWindow + 2, 1), ConnectionParameters.ofReads(1));
            }
            return load;
        } catch (RuntimeException e) {
            load.close();
            throw e;
        }
    }

    /**
     * Bytes of a memory that each connection has to itself.
     *
     * @param memoryBytes of all of it
     * @param connections how many there are
     */
    public static long shareBytes(long memoryBytes, int connections) {
        return memoryBytes / connections / MemoryPattern.PERIOD * MemoryPattern.PERIOD;
    }

    @Override
    void prepare(int connection) {
        // Nothing comes before it is asked for.
    }

    @Override
    void begin(int newWindow, long newSize) {
        window = newWindow;
        groupsPerVerification = Math.max(1, VERIFY_INTERVAL / newWindow);
        groups = 0;
        if (size != newSize) {
            size = newSize;
            targets.clear();
            for (int i = 0; i < verifying.length; i++) {
                targets.add(
                        ReadTargets.ofRegion(memory.address() + i * shareBytes, shareBytes, memory.rkey(), newSize));
            }
        }
    }

    @Override
    void fill(int connection) {
        ReadTargets target = targets.get(connection);
        boolean verify = groups++ % groupsPerVerification == 0;
        for (int i = 0; i < window; i++) {
            target.next();
            if (verify && i == window - 1) {
                write(connection, spoiltOffset(), target);
            }
            write(connection, target.offset() & (MemoryPattern.PERIOD - 1), target);
        }
        if (verify) {
            spoil(connection, 0, size);
        }
        verifying[connection] = verify;
        lastOffset[connection] = target.offset();
        outstanding[connection] = window + (verify ? 1 : 0);
        posted(outstanding[connection]);
        long length = verify ? size : Math.min(CONFIRMING_BYTES, size);
        require(queuePair(connection)
                .postRead(
                        connection,
                        region(),
                        slotOffset(connection, 0),
                        length,
                        target.address(),
                        target.rkey(),
                        SendFlags.SIGNALLED));
    }

    /** Its slot is free again with the READ's completion, which comes after it. */
    private void write(int connection, long localOffset, ReadTargets target) {
        require(queuePair(connection)
                .postWrite(connection, region(), localOffset, size, target.address(), target.rkey(), 0));
    }

    @Override
    void take(WorkCompletion completion, boolean mayPost) {
        int connection = (int) completion.wrId();
        if (verifying[connection]) {
            verify(connection, 0, size, lastOffset[connection]);
        }
        done(outstanding[connection]);
        if (mayPost) {
            fill(connection);
        }
    }
}
