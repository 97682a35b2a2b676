/**
 * The provider {@code disni}: real verbs devices through the raw verbs layer of DiSNI 2.1 ({@code
 * com.ibm.disni.verbs}; its endpoint layer is not used) and the libdisni.so of the machine it runs on. Read {@link
 * org.softrdma.disni.DisniProvider} first, then {@code device.DisniQueuePair} and {@code device.DisniCompletionQueue}.
 *
 * <p><b>Layers.</b> {@code library} is DiSNI: {@link org.softrdma.disni.library.DisniLibrary} declares every call that
 * is made and is the one seam that tests replace; {@link org.softrdma.disni.library.InstalledDisni} implements it and
 * alone imports {@code com.ibm.disni}. {@code device} implements verbs on those interfaces: one class per object of
 * verbs-api. What it shares with the other provider on the kernel's devices is in verbs-ibverbs.
 *
 * <p><b>What DiSNI cannot do is reported, not imitated</b>: no private data, no reject data, IPv4 only, regions up to
 * 2^31 - 1 bytes, 4 local entries in a request and 1 in a READ, no vendor codes, and a rejected connection looks the
 * same as a port without a listener. {@code Capabilities} holds what can be found out without a query: name and
 * transport from sysfs, sizes by trial, the rest constants of DiSNI.
 *
 * <p><b>Faults of DiSNI that are kept from the application:</b>
 *
 * <ul>
 *   <li>{@code connect} and {@code accept} on an id without a context end the process. So connectors and requests exist
 *       only once they have a context, and are used once.
 *   <li>Its own connect waits for ever. Every wait here has a deadline.
 *   <li>A failed completion keeps fields of the one before. So the native {@code wr_id} leads to the queue pair and its
 *       ring, and nothing else of a failure is read.
 *   <li>An error in a chain does not name its request. So each call posts one request.
 *   <li>Its stateful calls are not thread-safe, and share memory after a double free. So each belongs to one queue, is
 *       made once, used under the queue's lock and freed with it.
 *   <li>An event does not name its queue. So each completion queue has a native channel of its own.
 *   <li>Its map of ids is not thread-safe, and librdmacm moves queue pairs while it takes an event. So taking events,
 *       making ids and destroying queue pairs exclude each other.
 *   <li>A missing library, flag or device is an {@code Error} in a class initialiser. {@code usability()} explains
 *       each.
 * </ul>
 *
 * <p><b>The data path.</b> There is a prepared call for each opcode and number of entries, which posting fills in and
 * executes: one JNI call per request, nothing allocated. DiSNI has no setters for RECVs, so they are rewritten in the
 * call's own memory. A ring per queue decides when the queue is full.
 *
 * <p><b>Threads.</b> Application threads post and poll under a short lock per queue, which closing takes too. One
 * thread per device takes connection events and does what must not be done while posting or polling. Each armed
 * completion queue has a thread that takes its events. Both kinds of threads wait in slices, because nothing else ends
 * a wait of DiSNI. {@code rdma_connect}, which may wait for TCP, has a thread of its own.
 *
 * <p><b>Errors.</b> An application's own mistake is refused in Java before any call. Error numbers are derived from
 * their text. A queue pair enters ERROR once; what the device does not flush is completed by the next poll
 * (docs/reference/verbs-mapping.md, M1 to M7).
 */
@NullMarked
package org.softrdma.disni;

import org.jspecify.annotations.NullMarked;
