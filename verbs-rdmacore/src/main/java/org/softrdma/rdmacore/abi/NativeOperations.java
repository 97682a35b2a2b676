package org.softrdma.rdmacore.abi;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import org.jspecify.annotations.Nullable;
import org.softrdma.ibverbs.Errno;

/**
 * The data path of a context, and its windows, through its operation table like the inline functions of {@code
 * infiniband/verbs.h}. Posting and polling allocate nothing. Thread-safe.
 */
final class NativeOperations implements VerbsLibrary.Operations {
    // Static, so that the JIT compiler inlines them.
    private static final MethodHandle POST;
    private static final MethodHandle POLL;
    private static final MethodHandle NOTIFY;

    static {
        POST = handle(FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG, ValueLayout.JAVA_LONG));
        // Critical: reads completions in user memory under a spin lock, never waits, makes no upcall.
        POLL = handle(
                FunctionDescriptor.of(
                        ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG),
                Linker.Option.critical(false));
        NOTIFY = handle(FunctionDescriptor.of(ValueLayout.JAVA_INT, ValueLayout.JAVA_LONG, ValueLayout.JAVA_INT));
    }

    private final MemorySegment postSend;
    private final MemorySegment postReceive;
    private final MemorySegment poll;
    private final MemorySegment requestNotification;
    // Null where the driver has none.
    private final @Nullable MemorySegment postSharedReceive;
    private final @Nullable CFunction allocateWindow;
    private final @Nullable CFunction deallocateWindow;

    /**
     * Reads the table.
     *
     * @param context an {@code ibv_context}
     * @throws AbiMismatchException if a slot holds no address of executable memory
     */
    NativeOperations(long context) {
        ExecutableMemory executable = ExecutableMemory.ofThisProcess();
        postSend = function(executable, context, "post_send", VerbsAbi.CONTEXT_POST_SEND);
        postReceive = function(executable, context, "post_recv", VerbsAbi.CONTEXT_POST_RECV);
        poll = function(executable, context, "poll_cq", VerbsAbi.CONTEXT_POLL_CQ);
        requestNotification = function(executable, context, "req_notify_cq", VerbsAbi.CONTEXT_REQ_NOTIFY_CQ);
        postSharedReceive = optional(executable, context, "post_srq_recv", VerbsAbi.CONTEXT_POST_SRQ_RECV);
        MemorySegment allocate = optional(executable, context, "alloc_mw", VerbsAbi.CONTEXT_ALLOC_MW);
        MemorySegment deallocate = optional(executable, context, "dealloc_mw", VerbsAbi.CONTEXT_DEALLOC_MW);
        allocateWindow = allocate == null
                ? null
                : new CFunction(
                        allocate,
                        "alloc_mw",
                        CFunction.Failure.NULL_AND_ERRNO,
                        CFunction.WORD,
                        CFunction.WORD,
                        CFunction.INT);
        deallocateWindow = deallocate == null
                ? null
                : new CFunction(
                        deallocate, "dealloc_mw", CFunction.Failure.ERRNO_RETURNED, CFunction.INT, CFunction.WORD);
    }

    /** A function that a driver need not have; null if the slot is empty. */
    private static @Nullable MemorySegment optional(ExecutableMemory executable, long context, String name, long slot) {
        return CMemory.getLong(context + slot) == 0 ? null : function(executable, context, name, slot);
    }

    @SuppressWarnings("restricted")
    private static MethodHandle handle(FunctionDescriptor descriptor, Linker.Option... options) {
        return Linker.nativeLinker().downcallHandle(descriptor, options);
    }

    private static MemorySegment function(ExecutableMemory executable, long context, String name, long slot) {
        long address = CMemory.getLong(context + slot);
        if (!executable.contains(address)) {
            throw new AbiMismatchException("ibv_context.ops." + name + " at offset " + slot + " is 0x"
                    + Long.toHexString(address) + ", expected the address of a function");
        }
        return MemorySegment.ofAddress(address);
    }

    @Override
    public int postSend(long queuePair, long workRequests, long bad) {
        try {
            return (int) POST.invokeExact(postSend, queuePair, workRequests, bad);
        } catch (Throwable e) {
            throw failed("post_send", e);
        }
    }

    @Override
    public int postReceive(long queuePair, long workRequests, long bad) {
        try {
            return (int) POST.invokeExact(postReceive, queuePair, workRequests, bad);
        } catch (Throwable e) {
            throw failed("post_recv", e);
        }
    }

    @Override
    public int postSharedReceive(long sharedQueue, long workRequests, long bad) {
        MemorySegment function = postSharedReceive;
        if (function == null) {
            return Errno.EOPNOTSUPP;
        }
        try {
            return (int) POST.invokeExact(function, sharedQueue, workRequests, bad);
        } catch (Throwable e) {
            throw failed("post_srq_recv", e);
        }
    }

    @Override
    public long allocateWindow(long domain, int type) {
        CFunction function = allocateWindow;
        return function == null ? -Errno.EOPNOTSUPP : function.call(domain, type);
    }

    @Override
    public int deallocateWindow(long window) {
        CFunction function = deallocateWindow;
        return function == null ? Errno.EOPNOTSUPP : (int) function.call(window);
    }

    @Override
    public int poll(long queue, int max, long completions) {
        try {
            return (int) POLL.invokeExact(poll, queue, max, completions);
        } catch (Throwable e) {
            throw failed("poll_cq", e);
        }
    }

    @Override
    public int requestNotification(long queue, int solicitedOnly) {
        try {
            return (int) NOTIFY.invokeExact(requestNotification, queue, solicitedOnly);
        } catch (Throwable e) {
            throw failed("req_notify_cq", e);
        }
    }

    private static RuntimeException failed(String name, Throwable cause) {
        return new IllegalStateException("calling " + name, cause);
    }
}
