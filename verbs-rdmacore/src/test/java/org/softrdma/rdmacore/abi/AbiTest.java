package org.softrdma.rdmacore.abi;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.GroupLayout;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.softrdma.nativeverbs.Errno;

/**
 * The structures have the sizes and offsets that a C compiler gave for the headers of rdma-core 44 (libibverbs 1.14, librdmacm 1.3)
 * on x86-64 Linux, and calls go through the slots of the operation table.
 */
class AbiTest {
    private static void expectSize(long expected, GroupLayout layout) {
        assertEquals(
                expected, layout.byteSize(), () -> "sizeof " + layout.name().orElse("?"));
    }

    @Test
    void shouldHaveTheSizesOfTheHeaders() {
        expectSize(328, VerbsAbi.CONTEXT);
        expectSize(232, VerbsAbi.DEVICE_ATTRIBUTES);
        expectSize(16, VerbsAbi.DOMAIN);
        expectSize(48, VerbsAbi.REGION);
        expectSize(16, VerbsAbi.COMPLETION_CHANNEL);
        expectSize(64, VerbsAbi.QUEUE_PAIR_INIT);
        expectSize(16, VerbsAbi.ENTRY);
        expectSize(128, VerbsAbi.SEND);
        expectSize(32, VerbsAbi.RECEIVE);
        expectSize(48, VerbsAbi.COMPLETION);
        expectSize(16, VerbsAbi.ASYNC_EVENT);
        expectSize(24, ConnectionManagerAbi.PARAMETERS);
        expectSize(80, ConnectionManagerAbi.EVENT);
        expectSize(16, ConnectionManagerAbi.SOCKET_ADDRESS_4);
        expectSize(28, ConnectionManagerAbi.SOCKET_ADDRESS_6);
        expectSize(8, ConnectionManagerAbi.POLL_DESCRIPTOR);
    }

    @Test
    void shouldHaveTheOffsetsOfTheHeaders() {
        assertEquals(96, VerbsAbi.CONTEXT_POLL_CQ);
        assertEquals(104, VerbsAbi.CONTEXT_REQ_NOTIFY_CQ);
        assertEquals(208, VerbsAbi.CONTEXT_POST_SEND);
        assertEquals(216, VerbsAbi.CONTEXT_POST_RECV);
        assertEquals(264, VerbsAbi.CONTEXT_CMD_FD);
        assertEquals(268, VerbsAbi.CONTEXT_ASYNC_FD);
        assertEquals(272, VerbsAbi.CONTEXT_COMP_VECTORS);
        assertEquals(320, VerbsAbi.CONTEXT_ABI_COMPAT);
        assertEquals(20, VerbsAbi.DEVICE_TRANSPORT);
        assertEquals(24, VerbsAbi.DEVICE_NAME);
        assertEquals(80, VerbsAbi.MAX_MR_SIZE);
        assertEquals(112, VerbsAbi.MAX_QP_WR);
        assertEquals(120, VerbsAbi.MAX_SGE);
        assertEquals(132, VerbsAbi.MAX_CQE);
        assertEquals(136, VerbsAbi.MAX_MR);
        assertEquals(144, VerbsAbi.MAX_QP_RD_ATOM);
        assertEquals(156, VerbsAbi.MAX_QP_INIT_RD_ATOM);
        assertEquals(20, VerbsAbi.MAX_MSG_SZ);
        assertEquals(46, VerbsAbi.LINK_LAYER);
        assertEquals(16, VerbsAbi.REGION_ADDRESS);
        assertEquals(24, VerbsAbi.REGION_LENGTH);
        assertEquals(36, VerbsAbi.REGION_LKEY);
        assertEquals(40, VerbsAbi.REGION_RKEY);
        assertEquals(0, VerbsAbi.ASYNC_EVENT_ELEMENT);
        assertEquals(8, VerbsAbi.ASYNC_EVENT_TYPE);
        assertEquals(28, VerbsAbi.COMPLETION_QUEUE_ENTRIES);
        assertEquals(52, VerbsAbi.QUEUE_PAIR_NUMBER);
        assertEquals(60, VerbsAbi.QUEUE_PAIR_TYPE);
        assertEquals(32, VerbsAbi.INIT_MAX_SEND);
        assertEquals(52, VerbsAbi.INIT_TYPE);
        assertEquals(28, VerbsAbi.SEND_OPCODE);
        assertEquals(32, VerbsAbi.SEND_FLAGS);
        assertEquals(40, VerbsAbi.SEND_REMOTE_ADDRESS);
        assertEquals(48, VerbsAbi.SEND_RKEY);
        assertEquals(24, VerbsAbi.RECEIVE_ENTRY_COUNT);
        assertEquals(12, VerbsAbi.COMPLETION_OPCODE);
        assertEquals(16, VerbsAbi.COMPLETION_VENDOR_ERROR);
        assertEquals(20, VerbsAbi.COMPLETION_LENGTH);
        assertEquals(24, ConnectionManagerAbi.ID_QUEUE_PAIR);
        assertEquals(32, ConnectionManagerAbi.ID_SOURCE);
        assertEquals(160, ConnectionManagerAbi.ID_DESTINATION);
        assertEquals(344, ConnectionManagerAbi.ID_PORT_SPACE);
        assertEquals(24, ConnectionManagerAbi.EVENT_PARAMETERS);
        assertEquals(8, ConnectionManagerAbi.PARAMETERS_DATA_LENGTH);
        assertEquals(13, ConnectionManagerAbi.PARAMETERS_RNR_RETRIES);
    }

    @Test
    void shouldWriteAndReadSocketAddresses() throws UnknownHostException {
        try (Arena arena = Arena.ofConfined()) {
            for (String host : List.of("10.0.2.15", "fd00::2", "::1")) {
                MemorySegment memory = arena.allocate(ConnectionManagerAbi.SOCKET_ADDRESS_BYTES, Long.BYTES);
                InetSocketAddress address = new InetSocketAddress(InetAddress.getByName(host), 0xABCD);
                SocketAddresses.write(memory.address(), address);
                assertEquals(address, SocketAddresses.read(memory.address()));
            }
            MemorySegment memory = arena.allocate(ConnectionManagerAbi.SOCKET_ADDRESS_BYTES, Long.BYTES);
            SocketAddresses.write(memory.address(), new InetSocketAddress(InetAddress.getByName("10.0.2.15"), 7174));
            byte[] bytes = CMemory.getBytes(memory.address(), 8);
            assertEquals("02001c060a00020f", HexFormat.of().formatHex(bytes));
        }
    }

    /** What a slot of the operation table was called with. */
    private record Call(String slot, long first, long second, long third) {}

    private static final List<Call> CALLS = new ArrayList<>();
    private static final int ENOMEM = 12;

    @SuppressWarnings("unused") // called from C
    private static int postSend(long queuePair, long request, long bad) {
        CALLS.add(new Call("post_send", queuePair, request, bad));
        return ENOMEM;
    }

    @SuppressWarnings("unused") // called from C
    private static int postReceive(long queuePair, long request, long bad) {
        CALLS.add(new Call("post_recv", queuePair, request, bad));
        return -ENOMEM;
    }

    @SuppressWarnings("unused") // called from C
    private static int notify(long queue, int solicitedOnly) {
        CALLS.add(new Call("req_notify_cq", queue, solicitedOnly, 0));
        return 0;
    }

    @SuppressWarnings("restricted")
    private static MemorySegment stub(Arena arena, String method, FunctionDescriptor descriptor)
            throws ReflectiveOperationException {
        MethodType type = descriptor.toMethodType();
        MethodHandle target = MethodHandles.lookup().findStatic(AbiTest.class, method, type);
        return Linker.nativeLinker().upcallStub(target, descriptor, arena);
    }

    @Test
    void shouldCallThroughTheOperationTable() throws ReflectiveOperationException {
        CALLS.clear();
        try (Arena arena = Arena.ofConfined()) {
            FunctionDescriptor post = FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
            FunctionDescriptor notify =
                    FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT);
            long context = arena.allocate(VerbsAbi.CONTEXT).address();
            put(context, VerbsAbi.CONTEXT_POST_SEND, stub(arena, "postSend", post));
            put(context, VerbsAbi.CONTEXT_POST_RECV, stub(arena, "postReceive", post));
            put(context, VerbsAbi.CONTEXT_REQ_NOTIFY_CQ, stub(arena, "notify", notify));
            // A critical call must not come back into Java, so a C function stands for poll_cq: memset(s, c, n) has its
            // shape.
            put(
                    context,
                    VerbsAbi.CONTEXT_POLL_CQ,
                    Linker.nativeLinker().defaultLookup().findOrThrow("memset"));
            VerbsLibrary.Operations operations = new NativeOperations(context);
            assertEquals(ENOMEM, operations.postSend(1, 2, 3));
            assertEquals(-ENOMEM, operations.postReceive(4, 5, 6));
            assertEquals(0, operations.requestNotification(7, 1));
            assertEquals(
                    List.of(
                            new Call("post_send", 1, 2, 3),
                            new Call("post_recv", 4, 5, 6),
                            new Call("req_notify_cq", 7, 1, 0)),
                    CALLS);
            long filled = arena.allocate(Long.BYTES, Long.BYTES).address();
            operations.poll(filled, 0x5A, 3);
            assertEquals(0x5A5A5AL, CMemory.getLong(filled));
        }
    }

    private static void put(long context, long slot, MemorySegment function) {
        CMemory.putLong(context + slot, function.address());
    }

    @Test
    void shouldRefuseATableWhenASlotIsNoFunction() {
        try (Arena arena = Arena.ofConfined()) {
            long context = arena.allocate(VerbsAbi.CONTEXT).address();
            CMemory.putLong(context + VerbsAbi.CONTEXT_POST_SEND, context);
            AbiMismatchException refused =
                    assertThrows(AbiMismatchException.class, () -> new NativeOperations(context));
            String message = String.valueOf(refused.getMessage());
            assertTrue(message.contains("post_send") && message.contains("expected"), message);
        }
    }

    @Test
    void shouldBringCResultsToOneConvention() {
        try (Arena arena = Arena.ofConfined()) {
            var c = Linker.nativeLinker().defaultLookup();
            CFunction close =
                    new CFunction(c, "close", CFunction.Failure.MINUS_ONE_AND_ERRNO, CFunction.INT, CFunction.INT);
            assertEquals(9, close.call(-1), "EBADF");
            CFunction read = new CFunction(
                    c,
                    "read",
                    CFunction.Failure.COUNT_OR_ERRNO,
                    CFunction.WORD,
                    CFunction.INT,
                    CFunction.WORD,
                    CFunction.WORD);
            assertEquals(-9, read.call(-1, arena.allocate(8).address(), 8), "EBADF");
            CFunction open =
                    new CFunction(c, "opendir", CFunction.Failure.NULL_AND_ERRNO, CFunction.WORD, CFunction.WORD);
            long error = open.call(arena.allocateFrom("/no/such/folder").address());
            assertTrue(VerbsLibrary.isError(error), "opendir gave " + error);
            assertEquals(-Errno.ENOENT, error);
        }
    }
}
