package org.softrdma.kv.client.rdma;

import org.agrona.concurrent.NanoClock;

/**
 * What the owner of a client has said about its READs.
 *
 * @param window how many may be outstanding, besides one of a command
 * @param maxItemLength bytes of the longest item that is read in one piece
 * @param connectTimeoutNs how long connecting may take, in nanoseconds
 * @param touchReports whether the server is told which items were READ
 * @param nanoClock the clock of all limits
 */
public record ReaderSettings(
        int window, int maxItemLength, long connectTimeoutNs, boolean touchReports, NanoClock nanoClock) {}
