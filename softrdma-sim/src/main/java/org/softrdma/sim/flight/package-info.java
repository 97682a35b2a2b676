/**
 * What the soft RNIC tells Java Flight Recorder: connections that are made and end, errors that cost one, refused
 * accesses, pages that are pinned and evicted, deregistrations that waited. Nothing per message, and nothing at all while
 * nobody records.
 *
 * <p>Any thread. Read {@link org.softrdma.sim.flight.Flight} first.
 */
@NullMarked
package org.softrdma.sim.flight;

import org.jspecify.annotations.NullMarked;
