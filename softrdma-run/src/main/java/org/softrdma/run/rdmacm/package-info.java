/**
 * {@code /dev/infiniband/rdma_cm}: commands that librdmacm writes, ids, and their events, on the connection manager of the card. Ids know
 * nothing of queue pairs but their numbers, as in Linux. Read {@link org.softrdma.run.rdmacm.RdmaCmDevice} first. Runs on the thread that
 * answers calls.
 */
@NullMarked
package org.softrdma.run.rdmacm;

import org.jspecify.annotations.NullMarked;
