/**
 * What client and server say to each other by RDMA: the hello with its token, answers to rgets, touch reports, and
 * why a connect is refused.
 *
 * <p>Layouts and words only; no threads, no I/O. Read {@link org.softrdma.kv.message.HelloDescriptor} first, then
 * {@link org.softrdma.kv.message.AnswerDescriptor}.
 */
@NullMarked
package org.softrdma.kv.message;

import org.jspecify.annotations.NullMarked;
