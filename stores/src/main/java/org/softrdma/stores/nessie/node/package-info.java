/**
 * A node of Nessie: registered memory, and an application that hands out free entries of the data table and takes back
 * used ones. It takes no part in operations. Owned by one thread. Read {@code NessieServer} first, then {@code
 * NessieEntries}.
 */
@NullMarked
package org.softrdma.stores.nessie.node;

import org.jspecify.annotations.NullMarked;
