/**
 * {@code softrdma kv}: one command of memcached at a server, by READ where it can.
 *
 * <p>The main thread drives the client and its device. Read {@link org.softrdma.cli.kv.KvAction} first, then {@link
 * org.softrdma.cli.kv.GetCommands}.
 */
@NullMarked
package org.softrdma.cli.kv;

import org.jspecify.annotations.NullMarked;
