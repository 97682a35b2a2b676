package org.softrdma.sanitiser.watch;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.BufferName;

/**
 * A local entry of a request.
 *
 * @param region the region that it names
 * @param offset bytes from the start of the region
 * @param length bytes
 * @param memory what that is now; null if the region is closed or the range is not inside it
 */
record BufferRange(
        RegionRecord region,
        long offset,
        long length,
        @Nullable MemorySegment memory) {
    static BufferRange of(RegionRecord region, long offset, long length) {
        return new BufferRange(region, offset, length, region.slice(offset, length));
    }

    BufferName name() {
        return region.part(offset, length);
    }
}
