package org.softrdma.testkit.walk;

import java.util.List;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Part;

/** What completions prove of memory: bytes that are at the peer, and bytes that have come. The walk's thread. */
final class PlacedBytes {
    private PlacedBytes() {}

    /** The peer's memory has every WRITE and atomic of an end before a request. */
    static void place(WalkEnd end, long wrId) {
        List<WalkRequest> unplaced = end.unplaced();
        while (!unplaced.isEmpty() && unplaced.getFirst().wrId() < wrId) {
            WalkRequest write = unplaced.removeFirst();
            if (write.fault() != Fault.NONE) {
                throw new WalkFailure(
                        write + " on " + end + " was to be refused, and a request behind it has succeeded");
            }
            Part target = write.remote();
            for (Claim claim : write.claims()) {
                if (claim.writes() && write.isAtPeer(claim)) {
                    claim.buffer().put(target.from(), write.written(), 0, write.length());
                    if (write.isTainted()) {
                        claim.buffer().forget(claim.from(), claim.to());
                    }
                }
            }
            write.releaseAtPeer();
            target.region().buffer().check();
        }
    }

    /** Bytes have come into local buffers. */
    static void arrive(WalkRequest request, KnownBytes data, boolean unknown) {
        if (unknown || request.isTainted() || request.isVulnerable()) {
            request.forgetWritten();
            return;
        }
        int from = 0;
        for (Part part : request.parts()) {
            int length = Math.min(part.length(), data.bytes().length - from);
            if (length > 0) {
                part.region().buffer().put(part.from(), data, from, length);
                from += length;
            }
        }
        request.release(true);
        request.parts().forEach(part -> part.region().buffer().check());
    }
}
