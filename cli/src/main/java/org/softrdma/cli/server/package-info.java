/**
 * {@code softrdma server}: memcached's options, the device and the store they describe, and an orderly end.
 *
 * <p>The main thread waits until the server is stopped; a shutdown hook lets it finish when a signal comes. Read {@link
 * org.softrdma.cli.server.ServerCommand} first.
 */
@NullMarked
package org.softrdma.cli.server;

import org.jspecify.annotations.NullMarked;
