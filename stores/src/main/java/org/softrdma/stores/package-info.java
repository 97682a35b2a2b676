/**
 * What the stores of several papers have in common: a client, a server, a design that makes both, what it counts and
 * what it promises. Each design is a package below this one, and knows no other.
 *
 * <p>A client and a server belong to one thread each. Read {@link org.softrdma.stores.StoreDesign} first.
 */
@NullMarked
package org.softrdma.stores;

import org.jspecify.annotations.NullMarked;
