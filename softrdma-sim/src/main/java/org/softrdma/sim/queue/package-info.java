/**
 * The queues of the verbs objects: send, receive and completion queues, inbound READs, and the completion channel.
 *
 * <p>Application threads post and poll, one engine thread executes; each class says which thread writes which field.
 * Read {@link org.softrdma.sim.queue.SendQueue} first.
 */
@NullMarked
package org.softrdma.sim.queue;

import org.jspecify.annotations.NullMarked;
