/**
 * The provider {@code rdmacore}: real verbs devices through the distribution's {@code libibverbs.so.1} and {@code
 * librdmacm.so.1}, by {@code java.lang.foreign} and without native code of this project. Read {@link
 * org.softrdma.rdmacore.RdmaCoreProvider} first, then {@code device.CoreQueuePair} and {@code
 * device.CoreCompletionQueue}.
 *
 * <p><b>Layers.</b> {@code abi} knows C: {@link org.softrdma.rdmacore.abi.VerbsLibrary} declares every C function that
 * is called and is the one seam that tests replace; {@link org.softrdma.rdmacore.abi.NativeVerbsLibrary} implements it;
 * {@code VerbsAbi} and {@code ConnectionManagerAbi} hold the offsets of the C structures, none of which is compiled
 * against a header. {@code device} implements verbs on C pointers: one class per object of verbs-api.
 *
 * <p><b>The data path.</b> {@code ibv_post_send}, {@code ibv_post_recv}, {@code ibv_poll_cq} and {@code
 * ibv_req_notify_cq} are inline functions of a C header without symbols: they call through {@code ibv_context.ops}. So
 * does this provider. Each queue pair owns native memory for one chain of work requests, each completion queue for one
 * batch of completions. It is allocated when they are created, so posting and polling allocate nothing. A ring per
 * queue remembers what the application has posted, because a driver's free slots, error numbers and work request
 * numbers cannot be relied on (docs/reference/verbs-mapping.md, M1 and M2). A native {@code wr_id} is a place in a
 * table of queue pairs and a sequence in a ring.
 *
 * <p><b>What is verified, and when.</b> Before the first call: Linux, x86-64 or aarch64, 8-byte pointers and longs,
 * and that every symbol exists. At opening: the context came from {@code rdma_get_devices}, claims the extended layout
 * of libibverbs 1, and names descriptors and a device that sysfs knows; its four operations lie in executable memory; a
 * protection domain, region, completion queue and queue pair are created, and must show what they were created with at
 * the offsets used here. A mismatch is refused with an explanation; nothing is guessed.
 *
 * <p><b>Threads.</b> Application threads post and poll under a short lock per queue. Closing takes it too, so that no
 * call uses freed memory. One thread per device waits on the {@code rdma_event_channel} and for asynchronous
 * events ({@code SharedContext}), and does what must not be done while posting or polling, such as {@code
 * rdma_disconnect}; {@code rdma_connect}, which may wait for TCP, has a thread of its own.
 *
 * <p><b>Linkage.</b> Polling is {@linkplain java.lang.foreign.Linker.Option#critical critical}: it reads a queue in
 * user memory, never blocks and makes no upcall. Posting is not critical: on the software devices its doorbell is a
 * system call that may send.
 *
 * <p><b>Errors.</b> An application's own mistake is refused in Java before any native call. A queue pair enters ERROR
 * once, at the first sign of failure. InfiniBand and RoCE devices flush what was posted before and after. The iWARP
 * driver siw never completes what is posted after, so on iWARP such requests stay in the ring, and the next poll
 * completes them behind all native completions.
 *
 * <p><b>What not every device has.</b> Atomics and immediates are what the device's attributes and its protocol say.
 * Windows, shared receive queues, resize and reregistration are tried at opening ({@code OptionalObjects}), because a
 * driver's attributes and its library do not always agree. A window is posted by pointer to its region, so binds hold
 * the regions they may name ({@code BindableRegions}).
 */
@NullMarked
package org.softrdma.rdmacore;

import org.jspecify.annotations.NullMarked;
