package org.softrdma.cli.kv;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.ExitCode;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.kv.client.KvClient;
import org.softrdma.kv.client.SetStatus;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;

/** Commands that store a value. */
final class StoreCommands {
    private StoreCommands() {}

    /** A command that stores a value. */
    abstract static class StoreAction extends KeyAction {
        @Parameters(
                index = "1",
                arity = "0..1",
                paramLabel = "VALUE",
                description = "The value; read from standard input if omitted or -.")
        private @Nullable String value;

        @Option(
                names = {"-i", "--input"},
                paramLabel = "FILE",
                description = "Read the value from a file; - means standard input.")
        private @Nullable String input;

        StoreAction() {}

        abstract SetStatus store(KvClient client, byte[] value);

        @Override
        public Integer call() throws IOException {
            if (value != null && input != null) {
                throw new ParameterException(spec.commandLine(), "VALUE and --input: expected only one of them");
            }
            return super.call();
        }

        @Override
        int run(KvClient client) throws IOException {
            SetStatus status = store(client, value());
            if (status == SetStatus.STORED) {
                return ExitCode.OK;
            }
            complain(key + ": "
                    + switch (status) {
                        case TOO_LARGE -> "the value is larger than the server accepts (its -I)";
                        case OUT_OF_MEMORY -> "the server is out of memory (its -m)";
                        case EXISTS -> "not stored: the value has changed since";
                        case NOT_FOUND -> "not found";
                        default -> "not stored";
                    });
            return ExitCode.FAILED;
        }

        private byte[] value() throws IOException {
            if (value != null && !value.equals(KeyAction.STANDARD_STREAM)) {
                return utf8(value);
            }
            if (input == null || input.equals(KeyAction.STANDARD_STREAM)) {
                return System.in.readAllBytes();
            }
            try {
                return Files.readAllBytes(Path.of(input));
            } catch (IOException e) {
                throw new UserErrorException("--input " + input + ": cannot read the file: " + e.getMessage(), e);
            }
        }
    }

    /** A command that stores a value with flags and time. */
    abstract static class SetAction extends StoreAction {
        @Option(
                names = "--flags",
                paramLabel = "N",
                defaultValue = "0",
                description = "Flags to store with the value, 0 to 4294967295 (${DEFAULT-VALUE}).")
        private String flags = "";

        @Option(
                names = "--exptime",
                paramLabel = "SECONDS",
                defaultValue = "0",
                description = "Expiry: 0 for never, up to 30 days counted from now, more counted from 1970"
                        + " (${DEFAULT-VALUE}).")
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
    @Command(name = "add", description = "Store a value unless the key exists.")
    static final class Add extends SetAction {
        Add() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.add(key(), flags(), exptime, value);
        }
    }

    /** {@code softrdma kv replace}. */
    @Command(name = "replace", description = "Store a value if the key exists.")
    static final class Replace extends SetAction {
        Replace() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.replace(key(), flags(), exptime, value);
        }
    }

    /** {@code softrdma kv append}. */
    @Command(name = "append", description = "Append bytes to a value.")
    static final class Append extends StoreAction {
        Append() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.append(key(), value);
        }
    }

    /** {@code softrdma kv prepend}. */
    @Command(name = "prepend", description = "Prepend bytes to a value.")
    static final class Prepend extends StoreAction {
        Prepend() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.prepend(key(), value);
        }
    }

    /** {@code softrdma kv cas}. */
    @Command(name = "cas", description = "Store a value unless it has changed since kv gets.")
    static final class Cas extends SetAction {
        @Option(names = "--cas", required = true, paramLabel = "N", description = "The CAS that kv gets printed.")
        private String cas = "";

        Cas() {}

        @Override
        SetStatus store(KvClient client, byte[] value) {
            return client.cas(key(), flags(), exptime, value, unsigned("--cas", cas));
        }
    }
}
