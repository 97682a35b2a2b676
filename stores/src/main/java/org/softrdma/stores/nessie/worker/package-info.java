/**
 * A worker of Nessie. {@code NessieClient} begins operations and hands completions to their machines: {@code
 * NessieGet}, {@code NessieChange} with {@code NessieSettling} and {@code NessieMove}, or, as published, {@code
 * NessiePaperChange} and {@code NessiePaperMove}. A machine posts a batch of requests and is called again when all of
 * them have completed. Owned by one thread.
 */
@NullMarked
package org.softrdma.stores.nessie.worker;

import org.jspecify.annotations.NullMarked;
