package org.softrdma.cli;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.KvClientCounters;
import org.softrdma.kv.client.KvException;
import org.softrdma.kv.client.KvItem;
import org.softrdma.kv.client.KvProtocol;
import org.softrdma.kv.client.SetStatus;
import org.softrdma.kv.store.Locator;
import org.softrdma.verbs.VerbsException;
import org.softrdma.verbs.device.VerbsDevice;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code softrdma kv}: one command at a {@code softrdma server}, or any memcached. */
@Command(
        name = "kv",
        description = "One command at a softrdma server, GETs over RDMA, or at any memcached, over TCP.",
        subcommands = {
            KvCommand.Get.class,
            KvCommand.Gets.class,
            KvCommand.Set.class,
            KvCommand.Add.class,
            KvCommand.Replace.class,
            KvCommand.Append.class,
            KvCommand.Prepend.class,
            KvCommand.Cas.class,
            KvCommand.Delete.class,
            KvCommand.Incr.class,
            KvCommand.Decr.class,
            KvCommand.Touch.class,
            KvCommand.Flush.class,
            KvCommand.Stats.class,
            KvCommand.Version.class
        })
public final class KvCommand implements Runnable {
    private static final String STANDARD_STREAM = "-";

    @Spec
    private CommandSpec spec;

    KvCommand() {}

    @Override
    public void run() {
        throw new ParameterException(spec.commandLine(), "Name what to do.");
    }

    /** What all commands share: where the server is, how to reach it, and how to tell what came of it. */
    @Command(
            exitCodeListHeading = "%nExit codes:%n",
            exitCodeList = {
                "0:it was done",
                "1:there is no such value, it was not stored, or the server cannot be reached",
                "2:the command line, or a file it names, is wrong"
            })
    abstract static class Action implements Callable<Integer> {
        private static final int MAX_PORT = 65535;

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

        @Option(names = "--plain", description = "Use memcached's protocol over TCP and nothing else.")
        boolean plain;

        @Option(
                names = "--timeout",
                paramLabel = "SECONDS",
                defaultValue = "5",
                description = "How long to wait for the server (${DEFAULT-VALUE}).")
        double timeoutSeconds;

        Action() {}

        /** Does it; the exit code. */
        abstract int run(KvClient client) throws IOException;

        @Override
        public Integer call() throws IOException {
            long timeoutNs = timeoutNs();
            // Few READs at a time, of any item a server may have.
            KvClientContext context = new KvClientContext(address())
                    .protocol(plain ? KvProtocol.PLAIN : KvProtocol.AUTO)
                    .window(2)
                    .maxItemLength(Locator.MAX_ITEM_LENGTH)
                    .connectTimeoutNs(timeoutNs)
                    .requestTimeoutNs(timeoutNs)
                    .conclude();
            try {
                if (plain) {
                    try (KvClient client = KvClient.connectPlain(context)) {
                        return run(client);
                    }
                }
                try (VerbsDevice device = PerfSupport.open(provider, Map.of("progress", "manual"));
                        KvClient client = KvClient.connect(device, context)) {
                    if (client.protocol() == KvProtocol.PLAIN) {
                        note("over TCP only: " + server + " " + client.plainReason());
                    }
                    return run(client);
                }
            } catch (KvException | VerbsException e) {
                return PerfSupport.failed(spec, e);
            } catch (IllegalArgumentException e) {
                throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
            }
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
            return done ? Main.EXIT_OK : Main.EXIT_FAILED;
        }

        private long timeoutNs() {
            if (!(timeoutSeconds >= 0.001 && timeoutSeconds <= 86_400)) {
                throw new ParameterException(
                        spec.commandLine(), "--timeout " + timeoutSeconds + ": expected 0.001 to 86400 seconds");
            }
            return (long) (timeoutSeconds * TimeUnit.SECONDS.toNanos(1));
        }

        private InetSocketAddress address() {
            int colon = server.lastIndexOf(':');
            boolean hasPort = colon > 0 && (server.indexOf(':') == colon || server.charAt(colon - 1) == ']');
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
                throw new ParameterException(spec.commandLine(), "--server " + server + ": not HOST or HOST:PORT", e);
            }
        }
    }

    /** A command about one key. */
    abstract static class KeyAction extends Action {
        @Parameters(index = "0", paramLabel = "KEY", description = "1 to 250 bytes without blanks.")
        String key = "";

        KeyAction() {}

        byte[] key() {
            return utf8(key);
        }
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** How a get was served, from what the client counted. */
    private static String service(KvClientCounters counters) {
        if (counters.tcpGets() > 0) {
            return "over TCP";
        }
        return counters.rgets() > 0 ? "by rget: the server wrote it here" : "by READ";
    }

    /** {@code softrdma kv get}. */
    @Command(name = "get", description = "Write a value to the output, byte by byte and nothing else.")
    static final class Get extends KeyAction {
        @Option(
                names = {"-o", "--output"},
                paramLabel = "FILE",
                defaultValue = STANDARD_STREAM,
                description = "Where to; - for the standard output (${DEFAULT-VALUE}).")
        private String output = "";

        @Option(
                names = "--repeat",
                paramLabel = "N",
                defaultValue = "1",
                description = "Get it so often: from the second time on by READ (${DEFAULT-VALUE}).")
        private int repeat;

        Get() {}

        @Override
        int run(KvClient client) throws IOException {
            Optional<KvItem> item = client.get(key());
            note(key + ": served " + service(client.counters()));
            for (int i = 1; i < repeat; i++) {
                long hits = client.counters().hits();
                item = client.get(key());
                note(key + ": served " + (client.counters().hits() > hits ? "by READ" : service(client.counters())));
            }
            if (item.isEmpty()) {
                return doneIf(false, key);
            }
            write(item.get().value());
            return Main.EXIT_OK;
        }

        private void write(byte[] value) throws IOException {
            if (output.equals(STANDARD_STREAM)) {
                System.out.write(value);
                System.out.flush();
                return;
            }
            try {
                Files.write(Path.of(output), value);
            } catch (IOException e) {
                throw new UserErrorException("--output " + output + ": cannot be written: " + e.getMessage(), e);
            }
        }
    }

    /** {@code softrdma kv gets}. */
    @Command(
            name = "gets",
            description = "Write a line KEY FLAGS LENGTH CAS for each key that has a value: CAS is for kv cas.")
    static final class Gets extends Action {
        @Parameters(paramLabel = "KEY", arity = "1..*", description = "1 to 250 bytes without blanks.")
        private List<String> keys = List.of();

        Gets() {}

        @Override
        int run(KvClient client) {
            List<Optional<KvItem>> items =
                    client.getAll(keys.stream().map(KvCommand::utf8).toList());
            note("served " + service(client.counters()));
            boolean all = true;
            for (int i = 0; i < items.size(); i++) {
                if (items.get(i).isEmpty()) {
                    all = false;
                    complain(keys.get(i) + ": not found");
                    continue;
                }
                KvItem item = items.get(i).get();
                System.out.println(keys.get(i) + " " + Integer.toUnsignedString(item.flags()) + " "
                        + item.value().length + " " + Long.toUnsignedString(item.cas()));
            }
            System.out.flush();
            return all ? Main.EXIT_OK : Main.EXIT_FAILED;
        }
    }

    /** A command that stores a value. */
    abstract static class StoreAction extends KeyAction {
        @Parameters(
                index = "1",
                arity = "0..1",
                paramLabel = "VALUE",
                description = "The value; without it, or as -, all of the standard input.")
        private @Nullable String value;

        @Option(
                names = {"-i", "--input"},
                paramLabel = "FILE",
                description = "Take the value from a file; - for the standard input.")
        private @Nullable String input;

        StoreAction() {}

        abstract SetStatus store(KvClient client, byte[] value);

        @Override
        public Integer call() throws IOException {
            if (value != null && input != null) {
                throw new ParameterException(spec.commandLine(), "VALUE and --input: give one of the two");
            }
            return super.call();
        }

        @Override
        int run(KvClient client) throws IOException {
            SetStatus status = store(client, value());
            if (status == SetStatus.STORED) {
                return Main.EXIT_OK;
            }
            complain(key + ": "
                    + switch (status) {
                        case TOO_LARGE -> "the value is larger than the server takes (its -I)";
                        case OUT_OF_MEMORY -> "the server has no memory left (its -m)";
                        case EXISTS -> "not stored: it was changed meanwhile";
                        case NOT_FOUND -> "not found";
                        default -> "not stored";
                    });
            return Main.EXIT_FAILED;
        }

        private byte[] value() throws IOException {
            if (value != null && !value.equals(STANDARD_STREAM)) {
                return utf8(value);
            }
            if (input == null || input.equals(STANDARD_STREAM)) {
                return System.in.readAllBytes();
            }
            try {
                return Files.readAllBytes(Path.of(input));
            } catch (IOException e) {
                throw new UserErrorException("--input " + input + ": cannot be read: " + e.getMessage(), e);
            }
        }
    }

    /** A command that stores a value with flags and time. */
    abstract static class SetAction extends StoreAction {
        @Option(
                names = "--flags",
                paramLabel = "N",
                defaultValue = "0",
                description = "Kept with it, 0 to 4294967295 (${DEFAULT-VALUE}).")
        private String flags = "";

        @Option(
                names = "--exptime",
                paramLabel = "SECONDS",
                defaultValue = "0",
                description = "When it expires: 0 never, up to 30 days from now, above that since 1970.")
        int exptime;

        SetAction() {}

        int flags() {
            try {
                return Integer.parseUnsignedInt(flags);
            } catch (NumberFormatException e) {
                throw new ParameterException(spec.commandLine(), "--flags " + flags + ": expected 0 to 4294967295", e);
            }
        }
    }

    /** {@code softrdma kv set}. */
    @Command(name = "set", description = "Store a value.")
    static final class Set extends SetAction {
        Set() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.set(key(), flags(), exptime, value);
        }
    }

    /** {@code softrdma kv add}. */
    @Command(name = "add", description = "Store a value unless there is one.")
    static final class Add extends SetAction {
        Add() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.add(key(), flags(), exptime, value);
        }
    }

    /** {@code softrdma kv replace}. */
    @Command(name = "replace", description = "Store a value if there is one.")
    static final class Replace extends SetAction {
        Replace() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.replace(key(), flags(), exptime, value);
        }
    }

    /** {@code softrdma kv append}. */
    @Command(name = "append", description = "Put bytes behind a value.")
    static final class Append extends StoreAction {
        Append() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.append(key(), value);
        }
    }

    /** {@code softrdma kv prepend}. */
    @Command(name = "prepend", description = "Put bytes before a value.")
    static final class Prepend extends StoreAction {
        Prepend() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.prepend(key(), value);
        }
    }

    /** {@code softrdma kv cas}. */
    @Command(name = "cas", description = "Store a value if nobody changed the one there is.")
    static final class Cas extends SetAction {
        @Option(names = "--cas", required = true, paramLabel = "N", description = "The number that kv gets showed.")
        private String cas = "";

        Cas() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.cas(key(), flags(), exptime, value, unsigned(spec, "--cas", cas));
        }
    }

    private static long unsigned(CommandSpec spec, String name, String text) {
        try {
            return Long.parseUnsignedLong(text);
        } catch (NumberFormatException e) {
            throw new ParameterException(
                    spec.commandLine(), name + " " + text + ": expected 0 to 18446744073709551615", e);
        }
    }

    /** {@code softrdma kv delete}. */
    @Command(name = "delete", description = "Remove a value.")
    static final class Delete extends KeyAction {
        Delete() {}

        @Override
        int run(KvClient client) {
            return doneIf(client.delete(key()), key);
        }
    }

    /** A command that changes a number. */
    abstract static class NumberAction extends KeyAction {
        @Parameters(
                index = "1",
                paramLabel = "DELTA",
                defaultValue = "1",
                description = "By how much (${DEFAULT-VALUE}).")
        private String delta = "";

        NumberAction() {}

        abstract OptionalLong change(KvClient client, long by);

        @Override
        int run(KvClient client) {
            OptionalLong changed = change(client, unsigned(spec, "DELTA", delta));
            changed.ifPresent(number -> System.out.println(Long.toUnsignedString(number)));
            System.out.flush();
            return doneIf(changed.isPresent(), key);
        }
    }

    /** {@code softrdma kv incr}. */
    @Command(name = "incr", description = "Add to a value that is a number, and write the sum.")
    static final class Incr extends NumberAction {
        Incr() {}

        @Override
        OptionalLong change(KvClient client, long by) {
            return client.incr(key(), by);
        }
    }

    /** {@code softrdma kv decr}. */
    @Command(name = "decr", description = "Take from a value that is a number, down to 0, and write the rest.")
    static final class Decr extends NumberAction {
        Decr() {}

        @Override
        OptionalLong change(KvClient client, long by) {
            return client.decr(key(), by);
        }
    }

    /** {@code softrdma kv touch}. */
    @Command(name = "touch", description = "Set when a value expires.")
    static final class Touch extends KeyAction {
        @Parameters(
                index = "1",
                paramLabel = "SECONDS",
                description = "0 never, up to 30 days from now, above that since 1970.")
        private int exptime;

        Touch() {}

        @Override
        int run(KvClient client) {
            return doneIf(client.touch(key(), exptime), key);
        }
    }

    /** {@code softrdma kv flush}. */
    @Command(name = "flush", description = "Remove all values.")
    static final class Flush extends Action {
        @Option(
                names = "--delay",
                paramLabel = "SECONDS",
                defaultValue = "0",
                description = "In so many seconds (${DEFAULT-VALUE}).")
        private int delay;

        Flush() {}

        @Override
        int run(KvClient client) {
            client.flushAll(Duration.ofSeconds(delay));
            return Main.EXIT_OK;
        }
    }

    /** {@code softrdma kv stats}. */
    @Command(name = "stats", description = "Write what the server counts, a line each.")
    static final class Stats extends Action {
        @Parameters(
                paramLabel = "WHAT",
                arity = "0..*",
                description = "Nothing for the general ones; settings, items, slabs, rdma, ...")
        private List<String> what = List.of();

        Stats() {}

        @Override
        int run(KvClient client) {
            client.stats(String.join(" ", what)).forEach((name, value) -> System.out.println(name + " " + value));
            System.out.flush();
            return Main.EXIT_OK;
        }
    }

    /** {@code softrdma kv version}. */
    @Command(name = "version", description = "Write what the server calls its version.")
    static final class Version extends Action {
        Version() {}

        @Override
        int run(KvClient client) {
            System.out.println(client.version());
            System.out.flush();
            return Main.EXIT_OK;
        }
    }
}
