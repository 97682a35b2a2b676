package org.softrdma.verbs.cm;

/**
 * What one side requests for a connection (C: {@code rdma_conn_param}). {@link
 * org.softrdma.verbs.ConnectionCapabilities} has what the two sides agreed on.
 *
 * @param outboundReads READs that it wants to have in flight (C: {@code initiator_depth}, ORD)
 * @param inboundReads READs in flight that it grants the peer (C: {@code responder_resources}, IRD)
 * @param privateData sent to the peer with the request or the reply, at most {@link
 *     org.softrdma.verbs.Capabilities#maxPrivateData()} bytes; copied
 */
@SuppressWarnings("ArrayRecordComponent") // cloned on the way in and out; nobody compares parameters
public record ConnectionParameters(int outboundReads, int inboundReads, byte[] privateData) {
    /** 16 READs each way, no private data. */
    public static final ConnectionParameters DEFAULT = new ConnectionParameters(16, 16, new byte[0]);

    /** Checks the numbers and copies the data. */
    public ConnectionParameters {
        if (outboundReads < 0 || inboundReads < 0) {
            throw new IllegalArgumentException(
                    "outboundReads=" + outboundReads + ", inboundReads=" + inboundReads + ": must not be negative");
        }
        privateData = privateData.clone();
    }

    /**
     * The same number of READs in both directions, no private data.
     *
     * @param reads READs in flight
     */
    public static ConnectionParameters ofReads(int reads) {
        return new ConnectionParameters(reads, reads, new byte[0]);
    }

    /**
     * The same, with other private data.
     *
     * @param data the private data
     */
    public ConnectionParameters withPrivateData(byte[] data) {
        return new ConnectionParameters(outboundReads, inboundReads, data);
    }

    @Override
    public byte[] privateData() {
        return privateData.clone();
    }
}
