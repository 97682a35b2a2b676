/**
 * What races of all designs on the fabric have in common. Whoever holds the baton runs. Read {@link
 * org.softrdma.stores.race.StoreRace} first.
 */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.race;
