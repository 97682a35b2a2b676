/**
 * What races of all designs on the fabric have in common. Everything runs on the thread that the scheduler runs. Read {@link
 * org.softrdma.stores.race.StoreRace} first.
 */
@org.jspecify.annotations.NullMarked
package org.softrdma.stores.race;
