/**
 * The provider {@code disni}: real verbs devices through the raw verbs layer of DiSNI 2.1 ({@code
 * com.ibm.disni.verbs}; its endpoint layer is not used) and the libdisni.so of the machine it runs on. Read {@link
 * org.softrdma.disni.DisniProvider} first, then {@code device.DisniQueuePair} and {@code device.DisniCompletionQueue}.
 *
 * <p><b>Layers.</b> {@code library} is DiSNI: {@link org.softrdma.disni.library.DisniLibrary} is every call that is
 * made, the one seam that tests replace, {@link org.softrdma.disni.library.InstalledDisni} the real one and the only
 * importer of {@code com.ibm.disni}. {@code device} knows verbs: one class per object of verbs-api, on those
 * interfaces. What it shares with the other provider on the kernel's devices is in verbs-ibverbs.
 *
 * <p><b>What DiSNI cannot do is said, not imitated</b>: no private data, no reject data, IPv4 only, regions up to 2^31
 * - 1 bytes, 4 local entries of a request and 1 of a READ, no vendor codes, and a refused connection is not told from
 * nobody listening. {@code Capabilities} has what can be found out without a query: name and transport from sysfs,
 * sizes by trial, the rest constants of DiSNI.
 *
 * <p><b>What it does badly is kept from the application.</b> {@code connect} and {@code accept} on an id without a
 * context end the process: connectors and requests exist only once they have one, and are used once. Its own connect
 * waits for ever: every wait here has a deadline. A failed completion keeps fields of the one before: the native
 * {@code wr_id} leads to the queue pair and its ring, and of a failure nothing else is read. An error in a chain does
 * not name its place: one request per call. Its stateful calls share memory when freed twice and are not thread-safe:
 * each belongs to a queue, is made once, used under its lock and freed with it. An event does not name its queue: one
 * native channel per completion queue. Its map of ids is not thread-safe and librdmacm moves queue pairs while it
 * takes an event: taking events, making ids and destroying queue pairs exclude each other. Missing library, flag or
 * device are {@code Error}s of class initialisers: {@code usability()} turns each into a sentence.
 *
 * <p><b>The data path.</b> A prepared call per opcode and number of entries is filled in and executed: one JNI call
 * per request, nothing allocated. RECVs, for which DiSNI has no setters, are rewritten in the call's own memory. A
 * ring per queue decides when it is full.
 *
 * <p><b>Threads.</b> Application threads post and poll under a short lock per queue, which closing takes too. One
 * thread per device takes connection events and does what must not be done while posting or polling; a completion
 * queue that is armed has one that takes its events. Both wait in slices, because nothing else ends a wait of DiSNI.
 * {@code rdma_connect}, which may wait for TCP, has a thread of its own.
 *
 * <p><b>Errors.</b> An application's own mistake is refused in Java before any call. Error numbers are found by their
 * text. A queue pair enters ERROR once; what the device does not flush is completed by the next poll
 * (docs/reference/verbs-mapping.md, M1 to M7).
 */
@NullMarked
package org.softrdma.disni;

import org.jspecify.annotations.NullMarked;
