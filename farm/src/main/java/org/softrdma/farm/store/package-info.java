/**
 * FaRM's key-value store (NSDI 2014, section 3.6) as a {@link org.softrdma.stores.StoreDesign}: lookups by READ, changes
 * by messages through rings.
 *
 * <p>A server and a client belong to one thread each. Read {@link org.softrdma.farm.store.FarmDesign} first, then {@link
 * org.softrdma.farm.store.FarmLookup}.
 */
@NullMarked
package org.softrdma.farm.store;

import org.jspecify.annotations.NullMarked;
