package org.softrdma.testkit.walk;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.softrdma.testkit.walk.WalkRequest.Fault;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;

/**
 * Which requests under way disturb each other, and which bytes a request carries if none does. What verbs order is no
 * conflict: WRITEs of one queue pair, a READ behind them, and a fenced WRITE behind a READ. The walk's thread.
 */
final class Conflicts {
    private Conflicts() {}

    /** The claims that a request of a send queue would have. */
    static List<Claim> of(WalkRequest request) {
        if (request.fault() == Fault.LOCAL) {
            return List.of();
        }
        List<Claim> claims = new ArrayList<>();
        if (!request.isInline()) {
            claims.addAll(local(request, request.changesHere()));
        }
        if (request.isOneSided() && request.length() > 0) {
            Part remote = request.remote();
            boolean write = request.changesPeer();
            // Of a range that leaves its region or window, a device may have written what lies within before it sees
            // that.
            int to = Math.min(remote.to(), end(request));
            if ((request.fault() == Fault.NONE || (request.kind() == CompletionOpcode.WRITE && isPartlyLawful(request)))
                    && remote.from() < to) {
                claims.add(new Claim(remote.region(), remote.from(), to, write, request));
            }
        }
        return claims;
    }

    /** Behind the last byte of the buffer that its key opens. */
    private static int end(WalkRequest request) {
        WalkBinding binding = request.binding();
        WalkRegion region = request.remote().region();
        return binding == null
                ? region.from() + region.length()
                : binding.part().to();
    }

    private static boolean isPartlyLawful(WalkRequest request) {
        Part remote = request.remote();
        WalkBinding binding = request.binding();
        if (binding != null) {
            return !binding.isGone()
                    && binding.allows(request.end(), AccessFlag.REMOTE_WRITE)
                    && remote.from() >= binding.part().from();
        }
        return remote.region().isOpen()
                && remote.region().domain() == request.end().peer().domain()
                && remote.region().access().contains(AccessFlag.REMOTE_WRITE)
                && remote.offset() >= 0;
    }

    /** The claims on local buffers. */
    static List<Claim> local(WalkRequest request, boolean writes) {
        return request.parts().stream()
                .filter(part -> part.length() > 0)
                .map(part -> new Claim(part.region(), part.from(), part.to(), writes, request))
                .toList();
    }

    /** True if one of the claims disturbs another request, or is disturbed. */
    static boolean exist(List<Claim> claims, WalkRequest request) {
        for (Claim claim : claims) {
            for (Claim other : claim.buffer().claims(claim.from(), claim.to())) {
                if (disturb(claim, other)) {
                    return true;
                }
            }
        }
        return overlapThemselves(claims) || (request.isInline() && isUnsettled(request));
    }

    /** Gives a request its claims; whoever is disturbed carries unknown bytes from now on. */
    static void take(WalkRequest request, List<Claim> claims) {
        for (Claim claim : claims) {
            for (Claim other : claim.buffer().claims(claim.from(), claim.to())) {
                if (disturb(claim, other)) {
                    taint(claim, other);
                    taint(other, claim);
                }
            }
        }
        if (overlapThemselves(claims)
                || request.fault() == Fault.REMOTE
                || (request.isInline() && isUnsettled(request))) {
            request.taint();
        }
        claims.forEach(claim -> claim.buffer().claim(claim));
        request.claims().addAll(claims);
    }

    /** A reader does not harm a writer. */
    private static void taint(Claim victim, Claim other) {
        if (other.writes()) {
            victim.request().taint();
        }
    }

    private static boolean disturb(Claim newer, Claim older) {
        if (!newer.writes() && !older.writes()) {
            return false;
        }
        boolean remote = isRemote(newer)
                && isRemote(older)
                && newer.request().end() == older.request().end();
        return !remote || (!older.writes() && !newer.request().isFenced());
    }

    private static boolean isRemote(Claim claim) {
        return claim.request().isAtPeer(claim);
    }

    private static boolean overlapThemselves(List<Claim> claims) {
        for (int i = 0; i < claims.size(); i++) {
            for (int j = 0; j < i; j++) {
                Claim one = claims.get(i);
                Claim other = claims.get(j);
                if (one.buffer() == other.buffer()
                        && one.overlaps(other.from(), other.to())
                        && (one.writes() || other.writes())) {
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean isUnsettled(WalkRequest request) {
        return request.parts().stream()
                .anyMatch(part -> part.region().buffer().claims(part.from(), part.to()).stream()
                        .anyMatch(Claim::writes));
    }

    /** The bytes that it will carry if nobody disturbs it. */
    static KnownBytes data(WalkRequest request) {
        int length = request.length();
        KnownBytes data = KnownBytes.unknown(length);
        if (request.fault() != Fault.NONE) {
            return data;
        }
        if (request.isAnswered()) {
            return length == 0 ? data : remoteData(request);
        }
        int at = 0;
        for (Part part : request.parts()) {
            data.overlay(at, part.region().buffer().contents(part.from(), part.length()), 0, part.length());
            at += part.length();
        }
        return data;
    }

    /** What it leaves at the peer if nobody disturbs it. */
    static KnownBytes written(WalkRequest request) {
        if (!request.isAtomic()) {
            return request.data();
        }
        KnownBytes old = request.data();
        KnownBytes left = KnownBytes.unknown(Long.BYTES);
        if (request.fault() == Fault.NONE && old.known().cardinality() == Long.BYTES) {
            long before =
                    ByteBuffer.wrap(old.bytes()).order(ByteOrder.nativeOrder()).getLong();
            ByteBuffer.wrap(left.bytes()).order(ByteOrder.nativeOrder()).putLong(after(request, before));
            left.known().set(0, Long.BYTES);
        }
        return left;
    }

    private static long after(WalkRequest atomic, long before) {
        WalkRequest.Operands operands = atomic.operands();
        if (atomic.kind() == CompletionOpcode.FETCH_AND_ADD) {
            return before + operands.compareAdd();
        }
        return before == operands.compareAdd() ? operands.swap() : before;
    }

    /** What a READ gives: the memory as it is, and over it what its own queue pair has written there before. */
    private static KnownBytes remoteData(WalkRequest read) {
        Part remote = read.remote();
        KnownBytes data = remote.region().buffer().contents(remote.from(), remote.length());
        for (WalkRequest write : read.end().unplaced()) {
            Part target = write.remote();
            int from = Math.max(target.from(), remote.from());
            int to = Math.min(target.to(), remote.to());
            if (target.region().buffer() == remote.region().buffer() && from < to) {
                KnownBytes written =
                        write.isTainted() ? new KnownBytes(write.written().bytes(), new BitSet()) : write.written();
                read.sees(write);
                data.overlay(from - remote.from(), written, from - target.from(), to - from);
            }
        }
        return data;
    }
}
