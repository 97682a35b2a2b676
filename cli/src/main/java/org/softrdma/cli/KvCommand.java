package org.softrdma.cli;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.store.Locator;
import org.softrdma.verbs.VerbsDevice;
import org.softrdma.verbs.VerbsException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma kv}: one get, set or delete at a {@code softrdma server}. */
@Command(
        name = "kv",
        description = "Get, set or delete a value at a softrdma server, over RDMA.",
        subcommands = {KvCommand.Get.class, KvCommand.Set.class, KvCommand.Delete.class})
public final class KvCommand implements Runnable {
    @Spec
    private CommandSpec spec;

    KvCommand() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Name what to do.");
    }

    /** Where the server is, and the device to reach it. */
    static final class Target {
        private static final int MAX_PORT = 65535;

        @Spec(Spec.Target.MIXEE)
        CommandSpec mixee;

        @Mixin
        ProviderMixin provider = new ProviderMixin();

        @Option(
                names = {"-s", "--server"},
                paramLabel = "HOST[:PORT]",
                defaultValue = "127.0.0.1:11211",
                description = "The server's memcached port (${DEFAULT-VALUE}).")
        String server = "";

        Target() {}

        int run(Function<KvClient, Integer> work) {
            // One READ at a time, of any item a server may have.
            KvClientContext context = new KvClientContext(address())
                    .window(1)
                    .maxItemLength(Locator.MAX_ITEM_LENGTH)
                    .conclude();
            try (VerbsDevice device = PerfSupport.open(provider, Map.of("progress", "manual"));
                    KvClient client = KvClient.connect(device, context)) {
                return work.apply(client);
            } catch (KvException | VerbsException e) {
                return PerfSupport.failed(mixee, e);
            } catch (IllegalArgumentException e) {
                throw new ParameterException(mixee.commandLine(), String.valueOf(e.getMessage()), e);
            }
        }

        private InetSocketAddress address() {
            int colon = server.lastIndexOf(':');
            boolean hasPort = colon >= 0 && (server.indexOf(':') == colon || server.charAt(colon - 1) == ']');
            String host = (hasPort ? server.substring(0, colon) : server).replaceAll("^\\[|]$", "");
            try {
                int port = hasPort ? Integer.parseInt(server.substring(colon + 1)) : 11211;
                if (port < 1 || port > MAX_PORT) {
                    throw new NumberFormatException();
                }
                InetSocketAddress address = new InetSocketAddress(host, port);
                if (address.isUnresolved()) {
                    throw new UserErrorException("--server " + server + ": there is no host " + host + ".");
                }
                return address;
            } catch (NumberFormatException e) {
                throw new ParameterException(mixee.commandLine(), "--server " + server + ": not HOST or HOST:PORT", e);
            }
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** {@code softrdma kv get}. */
    @Command(
            name = "get",
            description = "Write a value to the output, byte by byte and nothing else.",
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {"0:the value was written", "1:there is none, or the server cannot be reached"})
    static final class Get implements Callable<Integer> {
        @Mixin
        private Target target = new Target();

        @Parameters(paramLabel = "KEY", description = "1 to 250 bytes without blanks.")
        private String key = "";

        Get() {}

        @Override
        public Integer call() {
            return target.run(client -> {
                Optional<KvItem> item = client.get(utf8(key));
                if (item.isEmpty()) {
                    target.mixee.commandLine().getErr().println(key + ": not found");
                    return Main.EXIT_FAILED;
                }
                System.out.writeBytes(item.get().value());
                System.out.flush();
                return Main.EXIT_OK;
            });
        }
    }

    /** {@code softrdma kv set}. */
    @Command(name = "set", description = "Store a value.")
    static final class Set implements Callable<Integer> {
        @Mixin
        private Target target = new Target();

        @Option(
                names = "--flags",
                paramLabel = "N",
                defaultValue = "0",
                description = "Kept with it (${DEFAULT-VALUE}).")
        private int flags;

        @Option(
                names = "--exptime",
                paramLabel = "SECONDS",
                defaultValue = "0",
                description = "When it expires: 0 never, up to 30 days from now, above that since 1970.")
        private int exptime;

        @Parameters(index = "0", paramLabel = "KEY", description = "1 to 250 bytes without blanks.")
        private String key = "";

        @Parameters(
                index = "1",
                arity = "0..1",
                paramLabel = "VALUE",
                description = "The value; without it, all of the standard input.")
        private @Nullable String value;

        Set() {}

        @Override
        public Integer call() throws IOException {
            byte[] bytes = value == null ? System.in.readAllBytes() : utf8(value);
            return target.run(client -> {
                SetStatus status = client.set(utf8(key), flags, exptime, bytes);
                if (status == SetStatus.STORED) {
                    return Main.EXIT_OK;
                }
                target.mixee
                        .commandLine()
                        .getErr()
                        .println(
                                status == SetStatus.TOO_LARGE
                                        ? key + ": the value is larger than the server takes (its -I)"
                                        : key + ": the server has no memory left (its -m)");
                return Main.EXIT_FAILED;
            });
        }
    }

    /** {@code softrdma kv delete}. */
    @Command(name = "delete", description = "Remove a value.")
    static final class Delete implements Callable<Integer> {
        @Mixin
        private Target target = new Target();

        @Parameters(paramLabel = "KEY", description = "1 to 250 bytes without blanks.")
        private String key = "";

        Delete() {}

        @Override
        public Integer call() {
            return target.run(client -> {
                if (client.delete(utf8(key))) {
                    return Main.EXIT_OK;
                }
                target.mixee.commandLine().getErr().println(key + ": not found");
                return Main.EXIT_FAILED;
            });
        }
    }
}
