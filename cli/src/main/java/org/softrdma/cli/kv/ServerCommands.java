package org.softrdma.cli.kv;

import java.time.Duration;
import java.util.List;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.kv.client.KvClient;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands about the whole server. */
final class ServerCommands {
    private ServerCommands() {}

    /** {@code softrdma kv flush}. */
    @Command(name = "flush", description = "Delete all values.")
    static final class Flush extends KvAction {
        @Option(
                names = "--delay",
                paramLabel = "SECONDS",
                defaultValue = "0",
                description = "Delay the deletion by this much (${DEFAULT-VALUE}).")
        private int delay;

        Flush() {}

        @Override
        int run(KvClient client) {
            client.flushAll(Duration.ofSeconds(delay));
            return ExitCode.OK;
        }
    }

    /** {@code softrdma kv stats}. */
    @Command(name = "stats", description = "Write the server's statistics, one per line.")
    static final class Stats extends KvAction {
        @Parameters(
                paramLabel = "WHAT",
                arity = "0..*",
                description = "Which statistics: settings, items, slabs, rdma, ...; the general ones if omitted.")
        private List<String> what = List.of();

        Stats() {}

        @Override
        int run(KvClient client) {
            client.stats(String.join(" ", what)).forEach((name, value) -> System.out.println(name + " " + value));
            System.out.flush();
            return ExitCode.OK;
        }
    }

    /** {@code softrdma kv version}. */
    @Command(name = "version", description = "Write the server's version.")
    static final class Version extends KvAction {
        Version() {}

        @Override
        int run(KvClient client) {
            System.out.println(client.version());
            System.out.flush();
            return ExitCode.OK;
        }
    }
}
