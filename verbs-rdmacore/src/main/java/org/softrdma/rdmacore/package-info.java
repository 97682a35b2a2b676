/**
 * The provider {@code rdmacore}: real verbs devices through the distribution's {@code libibverbs.so.1} and {@code
 * librdmacm.so.1}, by {@code java.lang.foreign} and without native code of this project. Read {@link
 * org.softrdma.rdmacore.RdmaCoreProvider} first, then {@code device.CoreQueuePair} and {@code
 * device.CoreCompletionQueue}.
 *
 * <p><b>Layers.</b> {@code abi} knows C: {@link org.softrdma.rdmacore.abi.VerbsLibrary} is every C function that is
 * called, the one seam that tests replace; {@link org.softrdma.rdmacore.abi.NativeVerbsLibrary} is the real one;
 * {@code VerbsAbi} and {@code ConnectionManagerAbi} are the structures, of which none is compiled against a header.
 * {@code device} knows verbs: one class per object of verbs-api, on longs that are C pointers.
 *
 * <p><b>The data path.</b> {@code ibv_post_send}, {@code ibv_post_recv}, {@code ibv_poll_cq} and {@code
 * ibv_req_notify_cq} are inline functions of a C header: there is no symbol, they call through {@code
 * ibv_context.ops}. So does this provider. Each queue pair owns native memory for one chain of work requests, each
 * completion queue for one batch of completions, made when they are created: posting and polling write and read it and
 * allocate nothing. What an application posts is remembered in a ring per queue, because a driver's free slots, error
 * numbers and work request numbers cannot be relied on (docs/reference/verbs-mapping.md, M1 and M2); a native {@code wr_id} is a
 * place in a table of queue pairs and a sequence in a ring.
 *
 * <p><b>What is verified, and when.</b> Before the first call: Linux, x86-64 or aarch64, 8-byte pointers and longs,
 * every symbol there. At opening: the context came from {@code rdma_get_devices}, says that it has the extended layout
 * of libibverbs 1, names descriptors and a device that sysfs knows, and its four operations lie in executable memory;
 * a protection domain, region, completion queue and queue pair are made and must show what they were made with at the
 * offsets used here. A mismatch is a refusal with a sentence, never a guess.
 *
 * <p><b>Threads.</b> Application threads post and poll under a short lock per queue, which closing takes too, so that
 * no call meets freed memory. One thread per device waits on the {@code rdma_event_channel} and for asynchronous
 * events ({@code SharedContext}), and does what must not be done while posting or polling, such as {@code
 * rdma_disconnect}; {@code rdma_connect}, which may wait for TCP, has a thread of its own.
 *
 * <p><b>Linkage.</b> Polling is {@linkplain java.lang.foreign.Linker.Option#critical critical}: it reads a queue in
 * user memory, blocks nowhere and calls nothing back. A post is not: on the software devices its doorbell is a system
 * call that may send.
 *
 * <p><b>Errors.</b> An application's own mistake is refused in Java before any native call. A queue pair enters ERROR
 * once, at the first sign. InfiniBand and RoCE devices flush what was and what will be posted; the iWARP driver siw
 * never completes what is posted after that, so on iWARP such requests stay in the ring and are completed by the next
 * poll, behind everything native.
 *
 * <p><b>Room.</b> Atomics, immediate data, windows and shared receive queues are further fields of the same structures
 * and further slots of the same operation table.
 */
@NullMarked
package org.softrdma.rdmacore;

import org.jspecify.annotations.NullMarked;
