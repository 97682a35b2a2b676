/**
 * The server's side of queue pairs: who may have one, what clients send on them, and the answers to their rgets. A GET
 * by READ involves none of this.
 *
 * <p>Two agents work here, {@code QueuePairAcceptor} and {@code RdmaSessions}; threads of memcached connections add
 * to the {@link org.softrdma.kv.server.rdma.AnswerRing} of their client. Read
 * {@link org.softrdma.kv.server.rdma.RdmaPort} first, then {@link org.softrdma.kv.server.rdma.Admission} and
 * {@code RdmaSession}.
 */
@NullMarked
package org.softrdma.kv.server.rdma;

import org.jspecify.annotations.NullMarked;
