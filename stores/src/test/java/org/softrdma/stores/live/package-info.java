/**
 * What live tests of all designs have in common: servers on a thread of their own, over TCP, and checks that every design
 * passes. Read {@link org.softrdma.stores.live.LiveStores} first.
 */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.live;
