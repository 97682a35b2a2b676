/**
 * The kernel's half of verbs: the device file of uverbs and its commands, as {@code rdma/ib_user_verbs.h} has them. Newer forms are
 * refused, so that rdma-core of any age falls back to these. Read {@link org.softrdma.run.uverbs.UverbsDevice} first. Runs on the thread
 * that answers calls.
 */
@NullMarked
package org.softrdma.run.uverbs;

import org.jspecify.annotations.NullMarked;
