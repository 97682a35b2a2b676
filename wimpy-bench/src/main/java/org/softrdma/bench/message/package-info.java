/**
 * WRITEs and SENDs to a responder: the loads, and the responder on a software RNIC that answers SENDs by SENDs and WRITEs by WRITEs.
 * The C program beside it, which takes WRITEs and answers SENDs, is wimpy-bench/native/message_responder.c.
 *
 * <p>The thread that calls drives the load; an {@link org.softrdma.bench.message.EchoResponder} reads its control lines on a second
 * thread. Read {@link org.softrdma.bench.message.MessageLoad} first.
 */
@NullMarked
package org.softrdma.bench.message;

import org.jspecify.annotations.NullMarked;
