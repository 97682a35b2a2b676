package org.softrdma.kv.server.session;

import java.util.function.LongSupplier;
import org.agrona.concurrent.NanoClock;

/**
 * The clocks of a server. Any thread.
 *
 * @param clockSeconds the clock by which items expire, seconds since 1970
 * @param wallSeconds the clock that clients have in mind when they give a time since 1970
 * @param nanoClock the clock of limits
 */
public record ServiceClocks(LongSupplier clockSeconds, LongSupplier wallSeconds, NanoClock nanoClock) {}
