package org.softrdma.cli.kv;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.softrdma.cli.command.CommandFailure;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.HostPort;
import org.softrdma.cli.command.ProviderMixin;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.cluster.ClusterServer;
import org.softrdma.kv.client.cluster.KvCluster;
import org.softrdma.kv.client.cluster.KvClusterContext;
import org.softrdma.kv.item.Locator;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** What all commands share: where the server is, how to reach it, and how to tell what came of it. */
@Command(
        exitCodeListHeading = "%nExit codes:%n",
        exitCodeList = {
            "0:success",
            "1:no such key, value not stored, or server not reachable",
            "2:the command line, or a file it names, is wrong"
        })
abstract class KvAction implements Callable<Integer> {

    @Spec
    CommandSpec spec;

    @Mixin
    ProviderMixin provider = new ProviderMixin();

    @Option(
            names = {"-s", "--server"},
            paramLabel = "HOST[:PORT]",
            defaultValue = "127.0.0.1:11211",
            description = "The server's memcached port (${DEFAULT-VALUE}).")
    String server = "";

    @Option(
            names = "--servers",
            split = ",",
            paramLabel = "HOST[:PORT[:WEIGHT]]",
            description = "Several servers instead. Each key lives on one of them, chosen as libmemcached's weighted"
                    + " ketama does; commands without a key go to all.")
    List<String> servers = List.of();

    @Mixin
    ProtectionOptions protection = new ProtectionOptions();

    @Option(names = "--plain", description = "Use only memcached's protocol over TCP.")
    boolean plain;

    @Option(
            names = "--timeout",
            paramLabel = "SECONDS",
            defaultValue = "5",
            description = "How long to wait for the server (${DEFAULT-VALUE}).")
    double timeoutSeconds;

    KvAction() {}

    /** Does it; the exit code. */
    abstract int run(KvClient client) throws IOException;

    /** Does it with several servers; unless overridden with each of them, the worst exit code. */
    int run(KvCluster cluster) throws IOException {
        int worst = ExitCode.OK;
        for (ClusterServer each : cluster.servers()) {
            System.out.println(each + ":");
            worst = Math.max(worst, runAt(each, cluster));
        }
        return worst;
    }

    /** Does it with one server; if that fails, says so, so that the others get their turn. */
    private int runAt(ClusterServer one, KvCluster cluster) throws IOException {
        try {
            return run(cluster.client(one));
        } catch (KvException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        }
    }

    @Override
    public Integer call() throws IOException {
        timeoutNs(); // complains before anything is opened
        try {
            if (servers.isEmpty()) {
                return runOnOne(
                        settings(new KvClientContext(HostPort.server("--server", server, ClusterServer.DEFAULT_PORT)))
                                .conclude());
            }
            if (spec.commandLine().getParseResult().hasMatchedOption("--server")) {
                throw new ParameterException(spec.commandLine(), "--server and --servers: expected only one of them");
            }
            return runOnAll(new KvClusterContext(
                            servers.stream().map(ClusterServer::parse).toList())
                    .withSettings(this::settings));
        } catch (KvException | VerbsException e) {
            return CommandFailure.tell(spec, e);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
        }
    }

    private KvClientContext settings(KvClientContext context) {
        // Few READs at a time, of any item a server may have.
        return protection
                .apply(context)
                .protocol(plain ? KvProtocol.PLAIN : KvProtocol.AUTO)
                .window(2)
                .maxItemLength(Locator.MAX_ITEM_LENGTH)
                .connectTimeoutNs(timeoutNs())
                .requestTimeoutNs(timeoutNs());
    }

    private int runOnOne(KvClientContext context) throws IOException {
        if (plain) {
            try (KvClient client = KvClient.connect(context)) {
                return run(client);
            }
        }
        try (VerbsDevice device = device();
                KvClient client = KvClient.connect(device, context)) {
            if (client.protocol() == KvProtocol.PLAIN) {
                note("over TCP only: " + server + " " + client.plainReason());
            }
            return run(client);
        }
    }

    private int runOnAll(KvClusterContext context) throws IOException {
        if (plain) {
            try (KvCluster cluster = KvCluster.connect(context)) {
                return run(cluster);
            }
        }
        try (VerbsDevice device = device();
                KvCluster cluster = KvCluster.connect(device, context)) {
            return run(cluster);
        }
    }

    private VerbsDevice device() {
        return provider.openWithKnown(Map.of("progress", "manual"));
    }

    /** Says something to who asked for more with -v. */
    void note(String text) {
        if (spec.root().findOption("--verbose").getValue() instanceof boolean[] verbose && verbose.length > 0) {
            complain(text);
        }
    }

    void complain(String text) {
        spec.commandLine().getErr().println(text);
        spec.commandLine().getErr().flush();
    }

    int doneIf(boolean done, String key) {
        if (!done) {
            complain(key + ": not found");
        }
        return done ? ExitCode.OK : ExitCode.FAILED;
    }

    private long timeoutNs() {
        if (!(timeoutSeconds >= 0.001 && timeoutSeconds <= 86_400)) {
            throw new ParameterException(
                    spec.commandLine(), "--timeout " + timeoutSeconds + ": expected 0.001 to 86400 seconds");
        }
        return (long) (timeoutSeconds * TimeUnit.SECONDS.toNanos(1));
    }

    /** A number of 64 bits without a sign. */
    final long unsigned(String name, String text) {
        try {
            return Long.parseUnsignedLong(text);
        } catch (NumberFormatException e) {
            throw new ParameterException(
                    spec.commandLine(), name + " " + text + ": expected 0 to 18446744073709551615", e);
        }
    }
}
