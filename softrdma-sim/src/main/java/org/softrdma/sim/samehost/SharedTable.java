package org.softrdma.sim.samehost;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.softrdma.net.kernel.SealedMemory;
import org.softrdma.sim.memory.AccessRights;
import org.softrdma.sim.memory.RowContent;
import org.softrdma.sim.memory.RowMirror;
import org.softrdma.sim.memory.StagTable;

/**
 * The table of regions that peers on this host can see: of the stag table the rows of regions that a peer may READ and
 * that lie in shareable memory, under the same numbers. It comes in parts, as the stag table does. Regions that promise
 * whole words (POLLED, atomics) are not in it.
 *
 * <p>Everything under the lock of the stag table.
 */
final class SharedTable implements RowMirror, AutoCloseable {
    /** Bytes of a part. */
    static final long CHUNK_BYTES = (long) SharedRow.BYTES << StagTable.CHUNK_SHIFT;

    /** Number of parts. */
    static final int CHUNKS = StagTable.MAX_ROWS >>> StagTable.CHUNK_SHIFT;

    private static final Logger LOG = LoggerFactory.getLogger(SharedTable.class);
    private static final int ROW_MASK = (1 << StagTable.CHUNK_SHIFT) - 1;

    private final SharedFiles files;
    private final ShareableMemory memory;
    private final @Nullable SealedMemory[] chunks = new SealedMemory[CHUNKS];

    SharedTable(SharedFiles files, ShareableMemory memory) {
        this.files = files;
        this.memory = memory;
    }

    /** Bytes from the start of its part. */
    static long offset(int row) {
        return (long) (row & ROW_MASK) * SharedRow.BYTES;
    }

    @Override
    public void says(int row, RowContent content) {
        SharedFiles.Item allocation =
                isReadable(content.rights()) ? memory.find(content.rawAddress(), content.length()) : null;
        SealedMemory chunk = allocation == null ? null : chunk(row);
        if (allocation == null || chunk == null) {
            saysNothing(row);
            return;
        }
        SharedRow.put(
                chunk.address() + offset(row),
                content.rkey(),
                content.domain(),
                content.base(),
                content.length(),
                allocation.number(),
                content.rawAddress() - allocation.memory().address());
    }

    private static boolean isReadable(int rights) {
        return (rights & (AccessRights.REMOTE_READ | AccessRights.POLLED)) == AccessRights.REMOTE_READ;
    }

    @Override
    public void saysNothing(int row) {
        SealedMemory chunk = chunks[row >>> StagTable.CHUNK_SHIFT];
        if (chunk != null && SharedRow.rkey(chunk.address() + offset(row)) != 0) {
            SharedRow.clear(chunk.address() + offset(row));
        }
    }

    private @Nullable SealedMemory chunk(int row) {
        int number = row >>> StagTable.CHUNK_SHIFT;
        SealedMemory chunk = chunks[number];
        if (chunk == null) {
            try {
                chunk = SealedMemory.create("softrdma regions", CHUNK_BYTES);
                chunks[number] = chunk;
                files.add(new SharedFiles.Item(false, number, chunk));
            } catch (IOException e) {
                LOG.debug("regions from {} on go over TCP", number << StagTable.CHUNK_SHIFT, e);
            }
        }
        return chunk;
    }

    @Override
    public void close() {
        for (SealedMemory chunk : chunks) {
            if (chunk != null) {
                chunk.close();
            }
        }
    }
}
