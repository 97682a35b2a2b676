package org.softrdma.verbs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.mockito.Mockito.mock;

import java.util.Set;
import org.junit.jupiter.api.Test;

/** A request says what the last call has made it, field by field. */
class SendWorkRequestTest {
    private final SendWorkRequest request = new SendWorkRequest();

    private void expect(SendOpcode opcode, long wrId, long remoteAddress, int rkey, int flags) {
        assertEquals(opcode, request.opcode());
        assertEquals(wrId, request.wrId());
        assertEquals(remoteAddress, request.remoteAddress());
        assertEquals(rkey, request.rkey());
        assertEquals(flags, request.flags());
        assertEquals(0, request.local().size(), "entries of the request before");
        assertNull(request.window(), "window of the request before");
        assertNull(request.addressHandle(), "address handle of the request before");
        request.add(1, 2, 3);
    }

    @Test
    void shouldBeACompareAndSwap() {
        request.compareAndSwap(1, 20, 3, 40, 50, SendFlags.FENCE);
        expect(SendOpcode.COMPARE_AND_SWAP, 1, 20, 3, SendFlags.FENCE);
        assertEquals(40, request.compareAdd());
        assertEquals(50, request.swap());
    }

    @Test
    void shouldBeAFetchAndAdd() {
        request.fetchAndAdd(1, 20, 3, -40, SendFlags.SIGNALLED);
        expect(SendOpcode.FETCH_AND_ADD, 1, 20, 3, SendFlags.SIGNALLED);
        assertEquals(-40, request.compareAdd());
    }

    @Test
    void shouldCarryAnImmediate() {
        request.writeImmediate(1, 20, 3, -4, SendFlags.SOLICITED);
        expect(SendOpcode.WRITE_IMMEDIATE, 1, 20, 3, SendFlags.SOLICITED);
        assertEquals(-4, request.immediate());
        request.sendImmediate(5, 6, SendFlags.INLINE);
        expect(SendOpcode.SEND_IMMEDIATE, 5, 0, 0, SendFlags.INLINE);
        assertEquals(6, request.immediate());
    }

    @Test
    void shouldNameTheKeyToInvalidate() {
        request.sendInvalidate(1, 77, SendFlags.SIGNALLED);
        expect(SendOpcode.SEND_INVALIDATE, 1, 0, 77, SendFlags.SIGNALLED);
        request.invalidate(2, 78, SendFlags.NONE);
        expect(SendOpcode.INVALIDATE, 2, 0, 78, SendFlags.NONE);
    }

    @Test
    void shouldBindAWindowAndForgetItAfterwards() {
        MemoryWindow window = mock(MemoryWindow.class);
        Set<AccessFlag> access = Set.of(AccessFlag.REMOTE_READ);
        request.bindWindow(9, window, access, SendFlags.SIGNALLED);
        assertEquals(SendOpcode.BIND_WINDOW, request.opcode());
        assertSame(window, request.window());
        assertEquals(access, request.windowAccess());
        assertEquals(9, request.wrId());
        assertEquals(0, request.rkey());
        request.add(1, 2, 3);
        request.read(1, 20, 3, SendFlags.NONE);
        expect(SendOpcode.READ, 1, 20, 3, SendFlags.NONE);
    }

    @Test
    void shouldKeepNoEntryOfTheRequestBefore() {
        request.fetchAndAdd(1, 20, 3, 4, SendFlags.NONE).add(1, 8, 1);
        request.invalidate(2, 5, SendFlags.NONE);
        expect(SendOpcode.INVALIDATE, 2, 0, 5, SendFlags.NONE);
    }

    @Test
    void shouldBeADatagramAndForgetItAfterwards() {
        AddressHandle handle = mock(AddressHandle.class);
        request.sendImmediate(1, 2, SendFlags.SIGNALLED).to(handle, 17, -1);
        assertSame(handle, request.addressHandle());
        assertEquals(17, request.remoteNumber());
        assertEquals(-1, request.queueKey());
        assertEquals(2, request.immediate());
        request.send(3, SendFlags.NONE);
        expect(SendOpcode.SEND, 3, 0, 0, SendFlags.NONE);
    }
}
