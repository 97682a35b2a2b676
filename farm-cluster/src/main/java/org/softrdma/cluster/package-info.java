/**
 * FaRM's membership by ZooKeeper, for machines that are processes: who is suspected, says ZooKeeper's session; who is a
 * member, and which regions it has, says a node that is written by compare and set. Read {@link
 * org.softrdma.cluster.ZooKeeperMembership} first.
 */
@NullMarked
package org.softrdma.cluster;

import org.jspecify.annotations.NullMarked;
