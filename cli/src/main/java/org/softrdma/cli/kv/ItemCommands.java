package org.softrdma.cli.kv;

import org.softrdma.kv.client.KvClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Commands that remove a value or change when it expires. */
final class ItemCommands {
    private ItemCommands() {}

    /** {@code softrdma kv delete}. */
    @Command(name = "delete", description = "Delete a value.")
    static final class Delete extends KeyAction {
        Delete() {}

        @Override
        int run(KvClient client) {
            return doneIf(client.delete(key()), key);
        }
    }

    /** {@code softrdma kv touch}. */
    @Command(name = "touch", description = "Change when a value expires.")
    static final class Touch extends KeyAction {
        @Parameters(
                index = "1",
                paramLabel = "SECONDS",
                description = "0 for never, up to 30 days counted from now, more counted from 1970.")
        private int exptime;

        Touch() {}

        @Override
        int run(KvClient client) {
            return doneIf(client.touch(key(), exptime), key);
        }
    }
}
