package org.softrdma.testkit.walk;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.MemoryRegion;

/** Registers memory, changes it, checks it, and deregisters it. The walk's thread. */
final class WalkMemory {
    private static final int MOST_REGIONS = 10;
    private static final int MOST_BUFFERS = 6;
    private static final int LONGEST = 20 << 10;
    private static final int SHORT = 600;

    private final WalkState state;

    WalkMemory(WalkState state) {
        this.state = state;
    }

    /** Registers new or known memory of a node with any lawful rights. */
    boolean register(WalkNode node) {
        if (node.regions().size() >= MOST_REGIONS) {
            return false;
        }
        WalkDomain domain = state.any(node.domains()).orElseThrow();
        Memory memory = choose(node);
        Set<AccessFlag> access = access(node);
        MemoryRegion region = domain.verbs().register(memory.segment(), access);
        WalkRegion known = WalkRegion.of(domain, memory.buffer(), memory.from(), access, region);
        known.require(memory.length());
        domain.regions().add(known);
        state.note("register " + known);
        return true;
    }

    /** Part of a buffer, to be registered. */
    record Memory(WalkBuffer buffer, int from, int length) {
        MemorySegment segment() {
            return buffer.segment().asSlice(from, length);
        }
    }

    /** New or known memory of a node. */
    Memory choose(WalkNode node) {
        WalkBuffer buffer =
                node.buffers().size() < MOST_BUFFERS && (node.buffers().isEmpty() || state.percent(70))
                        ? allocate(node)
                        : state.any(node.buffers()).orElseThrow();
        int from = state.percent(60) ? 0 : state.below(buffer.length());
        int length = state.percent(60) ? buffer.length() - from : state.between(1, buffer.length() - from);
        return new Memory(buffer, from, length);
    }

    private WalkBuffer allocate(WalkNode node) {
        int length = state.percent(85) ? state.between(1, SHORT) : state.between(SHORT, LONGEST);
        WalkBuffer buffer = new WalkBuffer(
                "buffer " + node.buffers().size() + " of " + node, node.device().allocateMemory(length));
        node.buffers().add(buffer);
        buffer.fill(state.random(), 0, length);
        return buffer;
    }

    /** Any lawful rights. */
    Set<AccessFlag> access(WalkNode node) {
        Set<AccessFlag> access = EnumSet.noneOf(AccessFlag.class);
        if (state.percent(85)) {
            access.add(AccessFlag.LOCAL_WRITE);
            access.add(AccessFlag.READ_SINK);
            access.add(AccessFlag.RECEIVE_SINK);
            if (state.percent(70)) {
                access.add(AccessFlag.REMOTE_WRITE);
            }
        }
        if (state.percent(70)) {
            access.add(AccessFlag.REMOTE_READ);
        }
        Set<Feature> features = node.features();
        if (features.contains(Feature.ZERO_BASED) && state.percent(25)) {
            access.add(AccessFlag.ZERO_BASED);
        }
        if (features.contains(Feature.ORDERED_PLACEMENT)
                && (access.contains(AccessFlag.LOCAL_WRITE) || access.contains(AccessFlag.REMOTE_READ))
                && state.percent(15)) {
            access.add(AccessFlag.POLLED);
        }
        if (state.uses(node, Feature.ATOMICS) && access.contains(AccessFlag.LOCAL_WRITE) && state.percent(60)) {
            access.add(AccessFlag.REMOTE_ATOMIC);
        }
        if (state.uses(node, Feature.MEMORY_WINDOWS) && state.percent(75)) {
            access.add(AccessFlag.BIND_WINDOWS);
        }
        return access;
    }

    /** The program writes into memory that no request uses. */
    boolean fill(WalkNode node) {
        WalkBuffer buffer = state.any(node.buffers()).orElse(null);
        if (buffer == null) {
            return false;
        }
        int from = state.below(buffer.length());
        int length = state.between(1, buffer.length() - from);
        if (!buffer.isFree(from, from + length)) {
            return false;
        }
        buffer.fill(state.random(), from, length);
        state.note("fill " + length + " bytes from " + from + " of " + buffer);
        return true;
    }

    /** Every buffer of the live nodes is as it should be. */
    void check() {
        state.liveNodes().forEach(node -> node.buffers().forEach(WalkBuffer::check));
    }

    /** Deregisters, also under requests unless the walk is lawful. From then on the memory does not change by it. */
    boolean deregister(WalkNode node) {
        WalkRegion region = state.any(node.regions()).orElse(null);
        if (region == null) {
            return false;
        }
        List<WalkRequest> users = users(node, region);
        if (!users.isEmpty() && (state.environment().reusesKeys() || !state.breaks(30))) {
            return false;
        }
        Bindings.Hold hold = Bindings.of(node, region);
        if (hold != Bindings.Hold.NONE && !state.breaks(50)) {
            return false;
        }
        state.note("deregister " + region + " under " + users.size() + " requests, bound: " + hold);
        if (!isClosed(region, hold)) {
            return true;
        }
        for (WalkRequest user : users) {
            user.expose();
            if (user.isShared()) {
                node.sharedQueues().forEach(WalkSharedQueue::changed);
            } else {
                user.end().connection().mayEnd("the deregistration of " + region + " under " + user);
            }
        }
        region.domain().regions().remove(region);
        node.closedRegions().add(region);
        users.forEach(user -> abandon(user, region));
        Bindings.open(node).stream()
                .filter(binding -> binding.part().region() == region)
                .forEach(Bindings::gone);
        region.buffer().check();
        return true;
    }

    /** Closes a region unless a window is bound to it. */
    private boolean isClosed(WalkRegion region, Bindings.Hold hold) {
        boolean closed = !RefusedCalls.isBusy("closing " + region, region.verbs()::close, hold);
        state.count(closed ? "deregistered" : "deregistration refused");
        return closed;
    }

    /** Requests that may still use the region, here or from a peer. */
    static List<WalkRequest> users(WalkNode node, WalkRegion region) {
        List<WalkRequest> users = new ArrayList<>();
        for (WalkEnd end : node.ends()) {
            add(users, end.sends(), region);
            add(users, end.receives(), region);
            WalkEnd peer = end.peer();
            add(users, peer.sends(), region);
            add(users, peer.unplaced(), region);
        }
        for (WalkSharedQueue queue : node.sharedQueues()) {
            add(users, queue.receives().values(), region);
        }
        return users;
    }

    private static void add(List<WalkRequest> users, Iterable<WalkRequest> requests, WalkRegion region) {
        for (WalkRequest request : requests) {
            if (request.uses(region) && !users.contains(request)) {
                users.add(request);
            }
        }
    }

    private static void abandon(WalkRequest request, WalkRegion region) {
        for (Claim claim : List.copyOf(request.claims())) {
            if (claim.region() == region) {
                if (claim.writes()) {
                    claim.buffer().forget(claim.from(), claim.to());
                }
                claim.buffer().release(claim);
                request.claims().remove(claim);
            }
        }
    }
}
