package org.softrdma.verbs;

import java.lang.foreign.MemorySegment;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What {@link MemoryRegion#reregister} changes (C: {@code IBV_REREG_MR_CHANGE_*}); what is null stays as it is.
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

    /** Changes the memory alone. */
    public static Reregistration ofMemory(MemorySegment memory) {
        return new Reregistration(memory, null, null);
    }

    /** Changes the domain alone. */
    public static Reregistration ofDomain(ProtectionDomain domain) {
        return new Reregistration(null, domain, null);
    }

    /** Changes the rights alone. */
    public static Reregistration ofAccess(Set<AccessFlag> access) {
        return new Reregistration(null, null, access);
    }
}
