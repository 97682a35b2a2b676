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
import org.softrdma.ibverbs.Errno;

/**
 * The structures have the sizes and offsets that a C compiler gave for the headers of rdma-core 44 (libibverbs 1.14,
 * librdmacm 1.3) on x86-64 Linux, and calls go through the slots of the operation table.
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
        expectSize(32, VerbsAbi.WINDOW);
        expectSize(32, VerbsAbi.SHARED_QUEUE);
        expectSize(12, VerbsAbi.SHARED_QUEUE_ATTRIBUTES);
        expectSize(24, VerbsAbi.SHARED_QUEUE_INIT);
        expectSize(64, VerbsAbi.QUEUE_PAIR_INIT);
        expectSize(32, VerbsAbi.ADDRESS_HANDLE_ATTRIBUTES);
        expectSize(144, VerbsAbi.QUEUE_PAIR_ATTRIBUTES);
        expectSize(16, WorkRequestAbi.ENTRY);
        expectSize(128, WorkRequestAbi.SEND);
        expectSize(32, WorkRequestAbi.RECEIVE);
        expectSize(48, WorkRequestAbi.COMPLETION);
        expectSize(16, VerbsAbi.ASYNC_EVENT);
        expectSize(24, ConnectionManagerAbi.PARAMETERS);
        expectSize(80, ConnectionManagerAbi.EVENT);
        expectSize(16, ConnectionManagerAbi.SOCKET_ADDRESS_4);
        expectSize(28, ConnectionManagerAbi.SOCKET_ADDRESS_6);
        expectSize(8, ConnectionManagerAbi.POLL_DESCRIPTOR);
    }

    @Test
    void shouldHaveTheOffsetsOfTheHeaders() {
        assertEquals(64, VerbsAbi.CONTEXT_ALLOC_MW);
        assertEquals(80, VerbsAbi.CONTEXT_DEALLOC_MW);
        assertEquals(96, VerbsAbi.CONTEXT_POLL_CQ);
        assertEquals(168, VerbsAbi.CONTEXT_POST_SRQ_RECV);
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
        assertEquals(28, WorkRequestAbi.SEND_OPCODE);
        assertEquals(32, WorkRequestAbi.SEND_FLAGS);
        assertEquals(40, WorkRequestAbi.SEND_REMOTE_ADDRESS);
        assertEquals(48, WorkRequestAbi.SEND_RKEY);
        assertEquals(24, WorkRequestAbi.RECEIVE_ENTRY_COUNT);
        assertEquals(12, WorkRequestAbi.COMPLETION_OPCODE);
        assertEquals(16, WorkRequestAbi.COMPLETION_VENDOR_ERROR);
        assertEquals(20, WorkRequestAbi.COMPLETION_LENGTH);
        assertEquals(24, ConnectionManagerAbi.ID_QUEUE_PAIR);
        assertEquals(32, ConnectionManagerAbi.ID_SOURCE);
        assertEquals(160, ConnectionManagerAbi.ID_DESTINATION);
        assertEquals(344, ConnectionManagerAbi.ID_PORT_SPACE);
        assertEquals(24, ConnectionManagerAbi.EVENT_PARAMETERS);
        assertEquals(8, ConnectionManagerAbi.PARAMETERS_DATA_LENGTH);
        assertEquals(13, ConnectionManagerAbi.PARAMETERS_RNR_RETRIES);
    }

    @Test
    void shouldHaveTheOffsetsOfTheHeadersForWhatNotEveryDeviceHas() {
        assertEquals(116, VerbsAbi.DEVICE_CAPABILITIES);
        assertEquals(124, VerbsAbi.MAX_SGE_RD);
        assertEquals(164, VerbsAbi.ATOMIC_CAPABILITY);
        assertEquals(176, VerbsAbi.MAX_MW);
        assertEquals(212, VerbsAbi.MAX_SRQ);
        assertEquals(216, VerbsAbi.MAX_SRQ_WR);
        assertEquals(220, VerbsAbi.MAX_SRQ_SGE);
        assertEquals(8, VerbsAbi.WINDOW_DOMAIN);
        assertEquals(16, VerbsAbi.WINDOW_RKEY);
        assertEquals(24, VerbsAbi.WINDOW_TYPE);
        assertEquals(16, VerbsAbi.SHARED_QUEUE_DOMAIN);
        assertEquals(8, VerbsAbi.SHARED_QUEUE_LIMIT);
        assertEquals(8, VerbsAbi.SHARED_INIT_MAX_RECEIVE);
        assertEquals(12, VerbsAbi.SHARED_INIT_MAX_SGE);
        assertEquals(40, VerbsAbi.QUEUE_PAIR_SHARED_QUEUE);
        assertEquals(24, VerbsAbi.INIT_SHARED_QUEUE);
        assertEquals(36, WorkRequestAbi.SEND_IMMEDIATE);
        assertEquals(48, WorkRequestAbi.SEND_COMPARE_ADD);
        assertEquals(56, WorkRequestAbi.SEND_SWAP);
        assertEquals(64, WorkRequestAbi.SEND_ATOMIC_RKEY);
        assertEquals(80, WorkRequestAbi.SEND_WINDOW);
        assertEquals(88, WorkRequestAbi.SEND_WINDOW_RKEY);
        assertEquals(96, WorkRequestAbi.SEND_WINDOW_REGION);
        assertEquals(104, WorkRequestAbi.SEND_WINDOW_ADDRESS);
        assertEquals(112, WorkRequestAbi.SEND_WINDOW_LENGTH);
        assertEquals(120, WorkRequestAbi.SEND_WINDOW_ACCESS);
        assertEquals(24, WorkRequestAbi.COMPLETION_IMMEDIATE);
        assertEquals(28, WorkRequestAbi.COMPLETION_QUEUE_PAIR);
        assertEquals(36, WorkRequestAbi.COMPLETION_FLAGS);
    }

    @Test
    void shouldHaveTheOffsetsOfTheHeadersForQueuePairsWithoutAnId() {
        assertEquals(8, VerbsAbi.ACTIVE_MTU);
        assertEquals(12, VerbsAbi.GID_TABLE_LENGTH);
        assertEquals(200, VerbsAbi.MAX_AH);
        assertEquals(0, VerbsAbi.HANDLE_GID);
        assertEquals(20, VerbsAbi.HANDLE_OWN_GID_INDEX);
        assertEquals(21, VerbsAbi.HANDLE_HOP_LIMIT);
        assertEquals(29, VerbsAbi.HANDLE_IS_GLOBAL);
        assertEquals(30, VerbsAbi.HANDLE_PORT);
        assertEquals(0, VerbsAbi.MODIFY_QP_STATE);
        assertEquals(8, VerbsAbi.MODIFY_PATH_MTU);
        assertEquals(16, VerbsAbi.MODIFY_QKEY);
        assertEquals(20, VerbsAbi.MODIFY_RQ_PSN);
        assertEquals(24, VerbsAbi.MODIFY_SQ_PSN);
        assertEquals(28, VerbsAbi.MODIFY_DEST_QPN);
        assertEquals(32, VerbsAbi.MODIFY_ACCESS);
        assertEquals(56, VerbsAbi.MODIFY_AV);
        assertEquals(126, VerbsAbi.MODIFY_MAX_RD_ATOMIC);
        assertEquals(127, VerbsAbi.MODIFY_MAX_DEST_RD_ATOMIC);
        assertEquals(128, VerbsAbi.MODIFY_MIN_RNR_TIMER);
        assertEquals(129, VerbsAbi.MODIFY_PORT);
        assertEquals(130, VerbsAbi.MODIFY_TIMEOUT);
        assertEquals(131, VerbsAbi.MODIFY_RETRY_CNT);
        assertEquals(132, VerbsAbi.MODIFY_RNR_RETRY);
        assertEquals(40, WorkRequestAbi.SEND_HANDLE);
        assertEquals(48, WorkRequestAbi.SEND_REMOTE_NUMBER);
        assertEquals(52, WorkRequestAbi.SEND_QUEUE_KEY);
        assertEquals(32, WorkRequestAbi.COMPLETION_SOURCE);
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
    private static int postSharedReceive(long queue, long request, long bad) {
        CALLS.add(new Call("post_srq_recv", queue, request, bad));
        return ENOMEM;
    }

    @SuppressWarnings("unused") // called from C
    private static long allocateWindow(long domain, int type) {
        CALLS.add(new Call("alloc_mw", domain, type, 0));
        return 0x1000;
    }

    @SuppressWarnings("unused") // called from C
    private static int deallocateWindow(long window) {
        CALLS.add(new Call("dealloc_mw", window, 0, 0));
        return ENOMEM;
    }

    @SuppressWarnings("unused") // called from C
    private static int same(int result) {
        return result;
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

    @Test
    void shouldCallWhatNotEveryDriverHasThroughTheOperationTable() throws ReflectiveOperationException {
        CALLS.clear();
        try (Arena arena = Arena.ofConfined()) {
            FunctionDescriptor post = FunctionDescriptor.of(
                    ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG);
            long context = arena.allocate(VerbsAbi.CONTEXT).address();
            MemorySegment needed = stub(arena, "postSend", post);
            put(context, VerbsAbi.CONTEXT_POST_SEND, needed);
            put(context, VerbsAbi.CONTEXT_POST_RECV, needed);
            put(context, VerbsAbi.CONTEXT_REQ_NOTIFY_CQ, needed);
            put(context, VerbsAbi.CONTEXT_POLL_CQ, needed);

            VerbsLibrary.Operations without = new NativeOperations(context);
            assertEquals(Errno.EOPNOTSUPP, without.postSharedReceive(1, 2, 3));
            assertEquals(-Errno.EOPNOTSUPP, without.allocateWindow(1, 2));
            assertEquals(Errno.EOPNOTSUPP, without.deallocateWindow(1));

            put(context, VerbsAbi.CONTEXT_POST_SRQ_RECV, stub(arena, "postSharedReceive", post));
            put(
                    context,
                    VerbsAbi.CONTEXT_ALLOC_MW,
                    stub(
                            arena,
                            "allocateWindow",
                            FunctionDescriptor.of(ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT)));
            put(
                    context,
                    VerbsAbi.CONTEXT_DEALLOC_MW,
                    stub(
                            arena,
                            "deallocateWindow",
                            FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG)));
            VerbsLibrary.Operations with = new NativeOperations(context);
            assertEquals(ENOMEM, with.postSharedReceive(1, 2, 3));
            assertEquals(0x1000, with.allocateWindow(4, VerbsAbi.TYPE_2));
            assertEquals(ENOMEM, with.deallocateWindow(0x1000));
            assertEquals(
                    List.of(
                            new Call("post_srq_recv", 1, 2, 3),
                            new Call("alloc_mw", 4, 2, 0),
                            new Call("dealloc_mw", 0x1000, 0, 0)),
                    CALLS);

            CMemory.putLong(context + VerbsAbi.CONTEXT_ALLOC_MW, context);
            AbiMismatchException refused =
                    assertThrows(AbiMismatchException.class, () -> new NativeOperations(context));
            assertTrue(String.valueOf(refused.getMessage()).contains("alloc_mw"), refused::getMessage);
        }
    }

    /** {@code enum ibv_rereg_mr_err_code}: which of them leave the region as it was. */
    @Test
    void shouldTellARegionThatIsAsItWasFromOneThatIsNot() throws ReflectiveOperationException {
        try (Arena arena = Arena.ofConfined()) {
            CFunction function = new CFunction(
                    stub(arena, "same", FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_INT)),
                    "same",
                    CFunction.Failure.REREGISTERED,
                    CFunction.INT,
                    CFunction.INT);
            assertEquals(0, function.call(0));
            assertTrue(function.call(-1) > 0, "IBV_REREG_MR_ERR_INPUT");
            assertTrue(function.call(-2) > 0, "IBV_REREG_MR_ERR_DONT_FORK_NEW");
            assertEquals(0, function.call(-3), "IBV_REREG_MR_ERR_DO_FORK_OLD");
            assertTrue(function.call(-4) < 0, "IBV_REREG_MR_ERR_CMD");
            assertTrue(function.call(-5) < 0, "IBV_REREG_MR_ERR_CMD_AND_DO_FORK_NEW");
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
