/**
 * What the stores of several papers have in common: a client, a server, a design that creates both, its counters and
 * its promises. Each design is a package below this one, and depends on no other design.
 *
 * <p>A client and a server belong to one thread each. Read {@link org.softrdma.stores.StoreDesign} first.
 */
@NullMarked
package org.softrdma.stores;

import org.jspecify.annotations.NullMarked;
