/**
 * TLS of the memcached port: certificates and keys from files, and the engine of each connection. Any thread.
 */
@NullMarked
package org.softrdma.kv.server.tls;

import org.jspecify.annotations.NullMarked;
