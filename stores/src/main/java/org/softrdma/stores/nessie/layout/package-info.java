/**
 * The bytes that nodes and workers of Nessie share, and memory that holds them. Read {@link
 * org.softrdma.stores.nessie.layout.NessieWordDescriptor} first, then {@link
 * org.softrdma.stores.nessie.layout.NessieDataDescriptor}.
 */
@NullMarked
package org.softrdma.stores.nessie.layout;

import org.jspecify.annotations.NullMarked;
