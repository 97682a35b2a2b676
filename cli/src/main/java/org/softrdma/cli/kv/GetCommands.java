package org.softrdma.cli.kv;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientCounters;
import org.softrdma.kv.client.KvCommands;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.cluster.ClusterServer;
import org.softrdma.kv.client.cluster.KvCluster;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Commands that write values or what is known of them. */
final class GetCommands {
    private GetCommands() {}

    /** How a get was served, from what the client counted. */
    private static String service(KvClientCounters counters) {
        if (counters.tcpGets() > 0) {
            return "over TCP";
        }
        return counters.rgets() > 0 ? "by rget: the server wrote it into this client's memory" : "by READ";
    }

    /** {@code softrdma kv get}. */
    @Command(name = "get", description = "Write a value to the output, unchanged.")
    static final class Get extends KeyAction {
        @Option(
                names = {"-o", "--output"},
                paramLabel = "FILE",
                defaultValue = KeyAction.STANDARD_STREAM,
                description = "Output file; - means standard output (${DEFAULT-VALUE}).")
        private String output = "";

        @Option(
                names = "--repeat",
                paramLabel = "N",
                defaultValue = "1",
                description = "Number of GETs; the second and later ones use READ (${DEFAULT-VALUE}).")
        private int repeat;

        Get() {}

        @Override
        int run(KvClient client) throws IOException {
            Optional<KvItem> item = client.get(key());
            served(item, service(client.counters()));
            for (int i = 1; i < repeat; i++) {
                long hits = client.counters().hits();
                item = client.get(key());
                served(item, client.counters().hits() > hits ? "by READ" : service(client.counters()));
            }
            if (item.isEmpty()) {
                return doneIf(false, key);
            }
            write(item.get().value());
            return ExitCode.OK;
        }

        private void served(Optional<KvItem> item, String how) {
            if (item.isPresent()) {
                note(key + ": served " + how);
            }
        }

        private void write(byte[] value) throws IOException {
            if (output.equals(KeyAction.STANDARD_STREAM)) {
                System.out.write(value);
                System.out.flush();
                return;
            }
            try {
                Files.write(Path.of(output), value);
            } catch (IOException e) {
                throw new UserErrorException("--output " + output + ": cannot write the file: " + e.getMessage(), e);
            }
        }
    }

    /** {@code softrdma kv gets}. */
    @Command(
            name = "gets",
            description = "Write a line KEY FLAGS LENGTH CAS for each key that exists. kv cas takes the CAS.")
    static final class Gets extends KvAction {
        @Parameters(paramLabel = "KEY", arity = "1..*", description = "Keys: 1 to 250 bytes each, no whitespace.")
        private List<String> keys = List.of();

        Gets() {}

        @Override
        int run(KvClient client) {
            int code = write(client, keys);
            note("served " + service(client.counters()));
            return code;
        }

        /** Server by server: one that fails keeps nothing of the others back. */
        @Override
        int run(KvCluster cluster) {
            Map<ClusterServer, List<String>> groups = keys.stream()
                    .collect(Collectors.groupingBy(
                            key -> cluster.server(KeyAction.utf8(key)), LinkedHashMap::new, Collectors.toList()));
            int worst = ExitCode.OK;
            for (Map.Entry<ClusterServer, List<String>> each : groups.entrySet()) {
                try {
                    worst = Math.max(worst, write(cluster.client(each.getKey()), each.getValue()));
                } catch (KvException e) {
                    worst = Math.max(worst, CommandFailure.tell(spec, e));
                }
            }
            return worst;
        }

        private int write(KvCommands client, List<String> some) {
            List<Optional<KvItem>> items =
                    client.getAll(some.stream().map(KeyAction::utf8).toList());
            boolean all = true;
            for (int i = 0; i < items.size(); i++) {
                if (items.get(i).isEmpty()) {
                    all = false;
                    complain(some.get(i) + ": not found");
                    continue;
                }
                KvItem item = items.get(i).get();
                System.out.println(some.get(i) + " " + Integer.toUnsignedString(item.flags()) + " "
                        + item.value().length + " " + Long.toUnsignedString(item.cas()));
            }
            System.out.flush();
            return all ? ExitCode.OK : ExitCode.FAILED;
        }
    }
}
