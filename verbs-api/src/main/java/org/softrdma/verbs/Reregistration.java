package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What {@link MemoryRegion#reregister} changes (C: {@code IBV_REREG_MR_CHANGE_*}); null leaves a part unchanged.
 *
 * @param memory the new memory, or null
 * @param domain the new domain, or null
 * @param access the new rights and intents, or null
 */
public record Reregistration(
        @Nullable MemorySegment memory,
        @Nullable ProtectionDomain domain,
        @Nullable Set<AccessFlag> access) {
    /** Copies the set. */
    public Reregistration {
        access = access == null ? null : Set.copyOf(access);
        if (memory == null && domain == null && access == null) {
            throw new IllegalArgumentException("a reregistration that changes nothing");
        }
    }

    /** Changes only the memory. */
    public static Reregistration ofMemory(MemorySegment memory) {
        return new Reregistration(memory, null, null);
    }

    /** Changes only the domain. */
    public static Reregistration ofDomain(ProtectionDomain domain) {
        return new Reregistration(null, domain, null);
    }

    /** Changes only the rights. */
    public static Reregistration ofAccess(Set<AccessFlag> access) {
        return new Reregistration(null, null, access);
    }
}
