/**
 * {@code softrdma farm}: machines of a shared address space as processes, with ZooKeeper, and a bank that is tried on
 * them. Each command runs on the main thread; a node has a thread of its own. Read {@link
 * org.softrdma.cli.farm.FarmNodeCommand} first.
 */
@NullMarked
package org.softrdma.cli.farm;

import org.jspecify.annotations.NullMarked;
