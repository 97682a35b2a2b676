/**
 * What a worker needs of the store that has its part of the keys.
 *
 * <p>Owned by the worker's thread. Read {@link org.softrdma.stores.herd.part.HerdPart} first.
 */
@NullMarked
package org.softrdma.stores.herd.part;

import org.jspecify.annotations.NullMarked;
