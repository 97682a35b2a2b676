package org.softrdma.cli.kv;

import java.util.OptionalLong;
import org.softrdma.kv.client.KvClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Commands that change a number. */
final class NumberCommands {
    private NumberCommands() {}

    /** A command that changes a number. */
    abstract static class NumberAction extends KeyAction {
        @Parameters(index = "1", paramLabel = "DELTA", defaultValue = "1", description = "Amount (${DEFAULT-VALUE}).")
        private String delta = "";

        NumberAction() {}

        abstract OptionalLong change(KvClient client, long by);

        @Override
        int run(KvClient client) {
            OptionalLong changed = change(client, unsigned("DELTA", delta));
            changed.ifPresent(number -> System.out.println(Long.toUnsignedString(number)));
            System.out.flush();
            return doneIf(changed.isPresent(), key);
        }
    }

    /** {@code softrdma kv incr}. */
    @Command(name = "incr", description = "Increment a number and write the result.")
    static final class Incr extends NumberAction {
        Incr() {}

        @Override
        OptionalLong change(KvClient client, long by) {
            return client.incr(key(), by);
        }
    }

    /** {@code softrdma kv decr}. */
    @Command(name = "decr", description = "Decrement a number, not below 0, and write the result.")
    static final class Decr extends NumberAction {
        Decr() {}

        @Override
        OptionalLong change(KvClient client, long by) {
            return client.decr(key(), by);
        }
    }
}
