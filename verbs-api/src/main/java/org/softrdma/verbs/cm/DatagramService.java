package org.softrdma.verbs.cm;

import java.net.InetSocketAddress;

/**
 * Where the datagrams of a service go (C: {@code struct rdma_ud_param}). {@link
 * org.softrdma.verbs.device.VerbsDevice#resolveDatagrams} finds it, {@link
 * org.softrdma.verbs.device.VerbsDevice#listenForDatagrams} lets it be found.
 *
 * @param host its device, for {@link org.softrdma.verbs.ProtectionDomain#createAddressHandle}
 * @param number of its queue pair
 * @param queueKey that a datagram must carry to be taken
 * @param privateData of the application, at most {@link org.softrdma.verbs.Capabilities#maxPrivateData()} bytes; zeros
 *     may follow those that were sent (rdma_get_cm_event(3))
 */
@SuppressWarnings("ArrayRecordComponent") // cloned on the way in and out; nobody compares services
public record DatagramService(InetSocketAddress host, int number, int queueKey, byte[] privateData) {
    /**
     * The queue key of rdma_cm (C: {@code RDMA_UDP_QKEY}): its peers know no other, and give their own queue pairs this
     * one.
     */
    public static final int QUEUE_KEY = 0x0123_4567;

    /** Copies the data. */
    public DatagramService {
        privateData = privateData.clone();
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }
}
