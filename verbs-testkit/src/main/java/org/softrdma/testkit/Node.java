package org.softrdma.testkit;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.CompletionChannel;
import org.softrdma.verbs.CompletionQueue;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.device.VerbsDevice;

/** One side of the nodes: a device and a domain on it. Everything it creates is closed at the end of the case. */
public final class Node {
    private static final int SCRATCH_BYTES = 64;

    private final CaseScope scope;
    private final String name;
    private final VerbsDevice device;
    private final ProtectionDomain domain;
    private final MemoryRegion scratch;

    Node(CaseScope scope, String name, VerbsDevice device) {
        this.scope = scope;
        this.name = name;
        this.device = device;
        this.domain = scope.own(device.allocateProtectionDomain());
        this.scratch = region(SCRATCH_BYTES, AccessFlag.READ_SINK, AccessFlag.RECEIVE_SINK);
    }

    /** {@code requester} or {@code responder}. */
    public String name() {
        return name;
    }

    /** Its device. */
    public VerbsDevice device() {
        return device;
    }

    /** The domain of its queue pairs. */
    public ProtectionDomain domain() {
        return domain;
    }

    /** Another domain of the same device. */
    public ProtectionDomain otherDomain() {
        return scope.own(device.allocateProtectionDomain());
    }

    /**
     * Zeroed memory.
     *
     * @param length bytes
     */
    public MemorySegment memory(long length) {
        return deviceMemory(length).segment();
    }

    /**
     * Zeroed memory with its handle.
     *
     * @param length bytes
     */
    public HostMemory deviceMemory(long length) {
        return scope.own(device.allocateMemory(length));
    }

    /**
     * Registers memory in the node's domain.
     *
     * @param access rights and intents
     */
    public MemoryRegion register(MemorySegment memory, AccessFlag... access) {
        return register(domain, memory, access);
    }

    /**
     * Registers memory.
     *
     * @param where domain
     * @param access rights and intents
     */
    public MemoryRegion register(ProtectionDomain where, MemorySegment memory, AccessFlag... access) {
        return scope.own(where.register(memory, Set.of(access)));
    }

    /**
     * Zeroed and registered memory.
     *
     * @param length bytes
     * @param access rights and intents
     */
    public MemoryRegion region(long length, AccessFlag... access) {
        return register(memory(length), access);
    }

    /**
     * Registered memory filled with a pattern.
     *
     * @param length bytes
     * @param pattern what it holds
     * @param access rights and intents
     */
    public MemoryRegion region(long length, BytePattern pattern, AccessFlag... access) {
        MemorySegment memory = memory(length);
        pattern.fill(memory);
        return register(memory, access);
    }

    /**
     * A completion queue with a reader.
     *
     * @param entries minimum number of entries
     */
    public CompletionReader completions(int entries) {
        return read(device.createCompletionQueue(entries));
    }

    /**
     * A completion queue with a reader, whose events go to a channel.
     *
     * @param entries minimum number of entries
     * @param channel where events go
     */
    public CompletionReader completions(int entries, CompletionChannel channel) {
        return read(device.createCompletionQueue(entries, channel, 0));
    }

    /** A completion channel. */
    public CompletionChannel channel() {
        return scope.own(device.createCompletionChannel());
    }

    /** A reader for a queue that the case created itself; the queue is closed at the end of the case. */
    public CompletionReader read(CompletionQueue queue) {
        CompletionReader reader = scope.own(new CompletionReader(scope, queue));
        scope.atEnd(reader::expectNoLeftovers);
        return reader;
    }

    /** A small region of this side whose content does not matter. */
    MemoryRegion scratch() {
        return scratch;
    }
}
