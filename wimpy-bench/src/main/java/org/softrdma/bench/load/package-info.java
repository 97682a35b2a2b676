/**
 * GETs as a load: keys and values, how a GET is asked for over TCP and by READ, and loads that keep a window of GETs outstanding.
 *
 * <p>A load belongs to the thread that made it. Read {@link org.softrdma.bench.load.GetLoad} first.
 */
@NullMarked
package org.softrdma.bench.load;

import org.jspecify.annotations.NullMarked;
