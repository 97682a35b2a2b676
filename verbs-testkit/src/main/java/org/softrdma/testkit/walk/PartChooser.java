package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionOpcode;

/** Chooses the memory of requests: within regions that allow it, or so that verbs must refuse it. The walk's thread. */
final class PartChooser {
    private static final int MOST_PARTS = 3;
    private static final int SMALL = 40;

    private final WalkState state;

    PartChooser(WalkState state) {
        this.state = state;
    }

    /** Sources of a SEND or WRITE; empty if there is no region. */
    List<Part> sources(WalkDomain domain, int most) {
        return parts(domain.regions(), most);
    }

    /** Sinks of a RECV. */
    List<Part> sinks(WalkDomain domain, int most) {
        return parts(domain.regions().stream().filter(WalkRegion::isReceiveSink).toList(), most);
    }

    /** The sink of a READ. */
    List<Part> readSink(WalkDomain domain) {
        return parts(domain.regions().stream().filter(WalkRegion::isReadSink).toList(), 1);
    }

    /** Where an atomic puts what it fetches. */
    List<Part> wordSink(WalkDomain domain) {
        return state
                .any(domain.regions().stream()
                        .filter(region -> region.isReadSink() && region.length() >= Long.BYTES)
                        .toList())
                .map(region -> new Part(region, state.between(0, region.length() - Long.BYTES), Long.BYTES))
                .stream()
                .toList();
    }

    /** A whole word at the peer that it may change by atomics; null if there is none. */
    @Nullable
    Part word(WalkEnd peer) {
        Part any = remote(peer, Long.BYTES, AccessFlag.REMOTE_ATOMIC);
        if (any == null) {
            return null;
        }
        Part aligned = new Part(any.region(), any.offset() - misalignment(any), Long.BYTES);
        return aligned.offset() >= 0 && isAligned(aligned) ? aligned : null;
    }

    /** A word at the peer that its device must refuse, and not because it is misaligned; null if there is none now. */
    @Nullable
    Part faultyWord(WalkEnd peer) {
        Part any = faultyRemote(peer, Long.BYTES, AccessFlag.REMOTE_ATOMIC);
        return any != null && isAligned(any) ? any : null;
    }

    /** Both the address that the peer uses and that of the memory count. */
    static boolean isAligned(Part part) {
        return misalignment(part) == 0 && part.from() % Long.BYTES == 0;
    }

    /** By how many bytes the address that the peer uses is more than a multiple of a word. */
    static int misalignment(Part part) {
        return (int) Long.remainderUnsigned(part.region().base() + part.offset(), Long.BYTES);
    }

    private List<Part> parts(List<WalkRegion> regions, int most) {
        List<Part> parts = new ArrayList<>();
        if (!regions.isEmpty()) {
            int count = state.percent(70) ? 1 : state.between(1, Math.min(MOST_PARTS, most));
            for (int i = 0; i < count; i++) {
                parts.add(part(state.any(regions).orElseThrow()));
            }
        }
        return parts;
    }

    private Part part(WalkRegion region) {
        int length = state.percent(4)
                ? 0
                : state.percent(50)
                        ? state.between(1, Math.min(SMALL, region.length()))
                        : state.between(1, region.length());
        return new Part(region, state.between(0, region.length() - length), length);
    }

    /** Memory of the peer that it may READ or WRITE; null if there is none. */
    @Nullable
    Part remote(WalkEnd peer, int length, AccessFlag right) {
        return state.any(peer.domain().regions().stream()
                        .filter(region -> region.access().contains(right) && region.length() >= length)
                        .toList())
                .map(region -> new Part(region, state.between(0, region.length() - length), length))
                .orElse(null);
    }

    /**
     * One local part that a device must refuse: of another domain, of a closed region, out of range, or a sink without
     * the right to write. That of a RECV is wholly out of range: of a short message, a device may see only what it
     * needs.
     */
    List<Part> faulty(WalkEnd end, CompletionOpcode kind) {
        return faulty(end.node(), end.domain(), kind);
    }

    /** The same for a request that must name regions of a domain. */
    List<Part> faulty(WalkNode node, WalkDomain domain, CompletionOpcode kind) {
        boolean source = kind == CompletionOpcode.SEND || kind == CompletionOpcode.WRITE;
        Part part = switch (state.below(4)) {
            case 0 -> whole(some(node.regions(), region -> region.domain() != domain));
            case 1 -> whole(some(node.closedRegions(), region -> isGone(node, region)));
            case 2 -> outOfRange(state.any(domain.regions()).orElse(null), kind);
            default ->
                source
                        ? null
                        : whole(some(domain.regions(), region -> !region.isReadSink() && !region.isReceiveSink()));
        };
        return part == null ? List.of() : List.of(part);
    }

    /** Memory of the peer that its device must refuse; null if there is none now. */
    @Nullable
    Part faultyRemote(WalkEnd peer, int length, AccessFlag right) {
        WalkNode node = peer.node();
        List<WalkRegion> own = peer.domain().regions();
        List<WalkRegion> wrong = switch (state.below(4)) {
            case 0 -> some(node.regions(), region -> region.domain() != peer.domain());
            case 1 -> some(node.closedRegions(), region -> isGone(node, region));
            case 2 -> some(own, region -> !region.access().contains(right));
            default -> own;
        };
        return state.any(wrong)
                .map(region -> new Part(region, wrong == own ? beyond(region, length) : 0, length))
                .orElse(null);
    }

    private static List<WalkRegion> some(List<WalkRegion> regions, Predicate<WalkRegion> chosen) {
        return regions.stream().filter(chosen).toList();
    }

    /** An offset from which so many bytes leave the region. */
    private int beyond(WalkRegion region, int length) {
        return state.between(Math.max(0, region.length() - length + 1), region.length());
    }

    private @Nullable Part whole(List<WalkRegion> regions) {
        return state.any(regions)
                .map(region -> new Part(region, 0, state.between(1, region.length())))
                .orElse(null);
    }

    /** Its key is not that of a new region. */
    private boolean isGone(WalkNode node, WalkRegion closed) {
        return !state.environment().reusesKeys()
                && node.regions().stream()
                        .noneMatch(open -> open.key() == closed.key() || open.lkey() == closed.lkey());
    }

    private @Nullable Part outOfRange(@Nullable WalkRegion region, CompletionOpcode kind) {
        if (region == null) {
            return null;
        }
        int length = state.between(1, region.length());
        return new Part(region, kind == CompletionOpcode.RECEIVE ? region.length() : beyond(region, length), length);
    }
}
