package org.softrdma.kv.server.session;

import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What a session asks of whoever owns the server. Called by any thread.
 *
 * @param shutdown stops the server, for the shutdown command; null if clients may not
 * @param moveClock moves the clock by so many seconds, for the debugtime command; null if clients may not
 * @param fatalErrors told when a thread of the server has met an Error, or has ended
 */
public record OwnerCalls(
        @Nullable Runnable shutdown, @Nullable LongConsumer moveClock, Consumer<? super Throwable> fatalErrors) {}
