/**
 * WRITEs and SENDs to a responder: the loads, and the responder that answers SENDs on a software RNIC. The C program beside it is
 * wimpy-bench/native/message_responder.c.
 *
 * <p>The thread that calls drives the load; an {@link org.softrdma.bench.message.EchoResponder} reads its control lines on a second
 * thread. Read {@link org.softrdma.bench.message.MessageLoad} first.
 */
@NullMarked
package org.softrdma.bench.message;

import org.jspecify.annotations.NullMarked;
