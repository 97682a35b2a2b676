package org.softrdma.kv.client;

import java.util.ArrayDeque;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The memcached connection as questions and answers: what was written to the link and waits for its answer, and the
 * answers, which come in the same order. Owned by the thread of its client.
 */
final class Dialogue {
    private static final int READS_PER_TURN = 64;

    /**
     * What is allocated for a value before any of it has come; more only as it comes, whatever the server announces.
     */
    private static final int FIRST_VALUE_BYTES = 1 << 20;

    private final MemcachedLink link;
    private final ArrayDeque<Exchange> exchanges = new ArrayDeque<>();
    private boolean noreplySent;
    private byte @Nullable [] value;
    private int valueLength;
    private int valueFilled;
    private boolean valueEnds;

    Dialogue(MemcachedLink link) {
        this.link = link;
    }

    /** Takes what was written to the link as a request whose answer is the next one. */
    void expect(Exchange exchange) {
        exchange.setBehindNoreply(noreplySent);
        noreplySent = false;
        exchanges.add(exchange);
    }

    /** What was written to the link is a request without an answer. */
    void expectNothing() {
        noreplySent = true;
    }

    /** True if answers are on their way. */
    boolean isWaiting() {
        return !exchanges.isEmpty();
    }

    /**
     * Takes what has come.
     *
     * @throws KvException if that is not in the protocol, or the server is gone
     */
    void takeAnswers() {
        int reads = 0;
        // What the socket has besides is for the next turn: a server that keeps sending must not stop the clock.
        while (link.hasReceived() || (reads++ < READS_PER_TURN && link.receive())) {
            Exchange exchange = exchanges.peek();
            if (value != null && exchange != null) {
                takeValue(exchange, value);
                continue;
            }
            String line = link.line();
            if (line == null) {
                continue;
            }
            if (exchange == null) {
                throw unexpected(line, "nothing");
            }
            if (valueEnds) {
                valueEnds = false;
                if (!line.isEmpty()) {
                    throw unexpected(line, "a value's end");
                }
                continue;
            }
            takeLine(exchange, line);
        }
    }

    private void takeLine(Exchange exchange, String line) {
        if (exchange.isBehindNoreply() && Exchange.isError(line)) {
            throw new KvException(
                    link.name() + " complained about a request that wants no answer, or the one behind it: " + line);
        }
        exchange.setBehindNoreply(false);
        switch (exchange.line(line)) {
            case LINE -> {}
            case VALUE -> {
                valueLength = exchange.valueLength();
                value = new byte[Math.min(valueLength, FIRST_VALUE_BYTES)];
                valueFilled = 0;
            }
            case NOTHING -> exchanges.remove();
        }
    }

    private void takeValue(Exchange exchange, byte[] target) {
        valueFilled = link.take(target, valueFilled);
        if (valueFilled == valueLength) {
            value = null;
            valueEnds = true;
            exchange.value(target);
        } else if (valueFilled == target.length) {
            value = Arrays.copyOf(target, (int) Math.min(valueLength, 2L * target.length));
        }
    }

    /** Lets requests see the time. */
    void check(DeadlineCheck check) {
        for (Exchange exchange : exchanges) {
            Pending request = exchange.request();
            if (request != null) {
                check.sent(request);
            }
        }
    }

    /** Fails every request that waits. */
    void fail(KvException reason) {
        for (Exchange exchange : exchanges.toArray(new Exchange[0])) { // whoever hears of it may ask something else
            Pending request = exchange.request();
            if (request != null) {
                request.fail(reason);
            }
        }
    }

    /** For an answer that is not in the protocol. */
    KvException unexpected(String line, String command) {
        return new KvException(link.name() + " answered " + command + " with '" + line + "'");
    }
}
