/**
 * Pilaf (Mitchell, Geng, Li: Using One-Sided RDMA Reads to Build a Fast, CPU-Efficient Key-Value Store, USENIX ATC
 * 2013) and Pilaf-VO: GETs by READs of self-verifying data, changes by messages to the server. docs/design/stores.md
 * says what the paper describes and what we changed.
 *
 * <p>A server and a client belong to one thread each. Read {@code PilafGet} first, then {@code PilafTable}.
 */
@NullMarked
package org.softrdma.stores.pilaf;

import org.jspecify.annotations.NullMarked;
