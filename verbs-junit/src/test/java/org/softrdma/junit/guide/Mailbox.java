package org.softrdma.junit.guide;

import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.EnumSet;
import java.util.Set;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.HostMemory;
import org.softrdma.verbs.MemoryRegion;
import org.softrdma.verbs.ProtectionDomain;
import org.softrdma.verbs.RemoteRegion;
import org.softrdma.verbs.device.VerbsDevice;

/** Memory that a peer WRITEs messages of some words into; its owner polls the last word. One thread. */
final class Mailbox implements AutoCloseable {
    private static final VarHandle WORD = ValueLayout.JAVA_LONG.arrayElementVarHandle();

    private final HostMemory memory;
    private final MemoryRegion region;
    private final int words;

    Mailbox(VerbsDevice device, ProtectionDomain domain, int words, AccessFlag... more) {
        this.words = words;
        memory = device.allocateMemory((long) words * Long.BYTES);
        Set<AccessFlag> access = EnumSet.of(AccessFlag.LOCAL_WRITE, AccessFlag.REMOTE_WRITE);
        access.addAll(Set.of(more));
        region = domain.register(memory.segment(), access);
    }

    RemoteRegion remote() {
        return region.remote();
    }

    /** True once the last word of a message is there, whose words are all alike. */
    boolean holds(long word) {
        return (long) WORD.getAcquire(memory.segment(), 0L, (long) words - 1) == word;
    }

    /** The words of the message. */
    long[] message() {
        long[] message = new long[words];
        for (int i = 0; i < words; i++) {
            message[i] = (long) WORD.getOpaque(memory.segment(), 0L, (long) i);
        }
        return message;
    }

    @Override
    public void close() {
        region.close();
        memory.close();
    }
}
