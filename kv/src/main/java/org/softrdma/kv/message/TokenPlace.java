package org.softrdma.kv.message;

import java.util.Optional;
import java.util.stream.Stream;

/** Where a server wants to see the token first: the last word of its answer to {@code rdma hello}. */
public enum TokenPlace {
    /** In the private data of the connect, so that a queue pair without a known token never exists. */
    PRIVATE_DATA("private-data"),
    /** In the first SEND: the server's device has no private data. */
    SEND("send");

    private final String word;

    TokenPlace(String word) {
        this.word = word;
    }

    /**
     * The place that a device allows.
     *
     * @param maxPrivateData of its capabilities
     */
    public static TokenPlace on(int maxPrivateData) {
        return maxPrivateData < HelloDescriptor.LENGTH ? SEND : PRIVATE_DATA;
    }

    /**
     * The place with this name, if there is one.
     *
     * @param word of the protocol
     */
    public static Optional<TokenPlace> of(String word) {
        return Stream.of(values()).filter(each -> each.word.equals(word)).findFirst();
    }

    /** Its name in the protocol. */
    public String word() {
        return word;
    }
}
