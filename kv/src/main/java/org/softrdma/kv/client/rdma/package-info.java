/**
 * The client's end of a queue pair: its work requests and registered memory, and its other messages to the server
 * (hello, touch reports).
 *
 * <p>Owned by the thread of the client's completion loop. Read {@link org.softrdma.kv.client.rdma.MemberLoop} first,
 * then {@link org.softrdma.kv.client.rdma.ReaderQueuePair} and {@link org.softrdma.kv.client.rdma.ServerTalk}.
 */
@NullMarked
package org.softrdma.kv.client.rdma;

import org.jspecify.annotations.NullMarked;
