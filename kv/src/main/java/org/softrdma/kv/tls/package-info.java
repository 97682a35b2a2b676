/**
 * Certificates and keys in PEM, for the server's port and for clients. Stateless; any thread. Read {@link
 * org.softrdma.kv.tls.TlsFiles} first.
 */
@NullMarked
package org.softrdma.kv.tls;

import org.jspecify.annotations.NullMarked;
