/**
 * The messages between client and server over RDMA: the hello with its token, answers to rgets, touch reports, and the
 * reason of a refused connect.
 *
 * <p>Layouts and constants only; no threads, no I/O. Read {@link org.softrdma.kv.message.HelloDescriptor} first, then
 * {@link org.softrdma.kv.message.AnswerDescriptor}.
 */
@NullMarked
package org.softrdma.kv.message;

import org.jspecify.annotations.NullMarked;
