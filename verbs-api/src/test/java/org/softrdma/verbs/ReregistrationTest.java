package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.mockito.Mockito.mock;

import java.lang.foreign.MemorySegment;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What a reregistration changes. */
class ReregistrationTest {
    @Test
    void shouldChangeOneThingOrSeveral() {
        MemorySegment memory = MemorySegment.ofArray(new byte[1]);
        ProtectionDomain domain = mock(ProtectionDomain.class);
        Reregistration ofMemory = Reregistration.ofMemory(memory);
        assertSame(memory, ofMemory.memory());
        assertNull(ofMemory.domain());
        assertNull(ofMemory.access());
        Reregistration ofDomain = Reregistration.ofDomain(domain);
        assertSame(domain, ofDomain.domain());
        assertNull(ofDomain.memory());
        assertNull(ofDomain.access());
        Reregistration ofNoRights = Reregistration.ofAccess(Set.of());
        assertEquals(Set.of(), ofNoRights.access());
        assertNull(ofNoRights.memory());
        assertNull(ofNoRights.domain());
        Reregistration all = new Reregistration(memory, domain, Set.of(AccessFlag.REMOTE_READ));
        assertEquals(Set.of(AccessFlag.REMOTE_READ), all.access());
    }

    @Test
    void shouldKeepItsOwnCopyOfTheRights() {
        Set<AccessFlag> access = EnumSet.of(AccessFlag.REMOTE_READ);
        Reregistration change = Reregistration.ofAccess(access);
        access.add(AccessFlag.LOCAL_WRITE);
        assertEquals(Set.of(AccessFlag.REMOTE_READ), change.access());
    }

    @Test
    void shouldRefuseToChangeNothing() {
        assertThrows(IllegalArgumentException.class, () -> new Reregistration(null, null, null));
    }
}
