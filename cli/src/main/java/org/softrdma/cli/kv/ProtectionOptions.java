package org.softrdma.cli.kv;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.softrdma.cli.command.UserErrorException;
import org.softrdma.kv.client.ClientLogin;
import org.softrdma.kv.client.KvClientContext;
import org.softrdma.kv.client.network.ClientTls;
import picocli.CommandLine.Option;

/** Who the user is, and how the connection is encrypted. A password is never an argument: every user of a host sees those. */
final class ProtectionOptions {
    /** Has the password where there is no file of it. */
    static final String PASSWORD_VARIABLE = "SOFTRDMA_PASSWORD";

    @Option(
            names = "--user",
            paramLabel = "NAME",
            description =
                    "Log in as this user of the server (-Y), if it asks; the password is in --password-file, or in"
                            + " the environment variable " + PASSWORD_VARIABLE + ".")
    private @Nullable String user;

    @Option(names = "--password-file", paramLabel = "FILE", description = "File whose first line is the password.")
    private @Nullable Path passwordFile;

    @Option(
            names = "--tls",
            description = "Encrypt the memcached connection. Values are then fetched over it, not by READ.")
    private boolean tls;

    @Option(
            names = "--clear-reads",
            description =
                    "With --tls: fetch values by READ all the same. READs are not encrypted: anyone who can see the"
                            + " network traffic sees what they fetch.")
    private boolean clearReads;

    @Option(
            names = "--tls-ca",
            paramLabel = "FILE",
            description = "PEM file of the authorities that sign servers' certificates; by default those of the JDK.")
    private @Nullable Path authorities;

    @Option(
            names = "--tls-cert",
            paramLabel = "FILE",
            description = "PEM file of the certificate to show, and its chain, if the server wants one.")
    private @Nullable Path certificates;

    @Option(
            names = "--tls-key",
            paramLabel = "FILE",
            description = "PEM file of its private key; by default the file of the certificate.")
    private @Nullable Path key;

    @Option(
            names = "--tls-name",
            paramLabel = "NAME",
            description = "Name or address that the server's certificate must be for; by default the server's host.")
    private @Nullable String name;

    private Map<String, String> environment = System.getenv();

    ProtectionOptions() {}

    /** Another environment, for tests. */
    ProtectionOptions environment(Map<String, String> variables) {
        environment = variables;
        return this;
    }

    /**
     * Adds what was given to a context.
     *
     * @throws UserErrorException if a file is missing or wrong
     * @throws IllegalArgumentException if options contradict each other
     */
    KvClientContext apply(KvClientContext context) {
        if (user != null) {
            context.login(new ClientLogin(user, password(user)));
        } else if (passwordFile != null) {
            throw new IllegalArgumentException("--password-file " + passwordFile + ": expected --user, too");
        }
        if (!tls) {
            refuseWithoutTls("--clear-reads", clearReads ? "" : null);
            refuseWithoutTls("--tls-ca ", authorities);
            refuseWithoutTls("--tls-cert ", certificates);
            refuseWithoutTls("--tls-key ", key);
            refuseWithoutTls("--tls-name ", name);
            return context;
        }
        try {
            ClientTls chosen = ClientTls.of(authorities, certificates, key);
            return context.tls(name == null ? chosen : chosen.named(name)).clearReads(clearReads);
        } catch (IOException e) {
            throw new UserErrorException("--tls: " + e.getMessage(), e);
        }
    }

    private static void refuseWithoutTls(String option, @Nullable Object value) {
        if (value != null) {
            throw new IllegalArgumentException(option + value + ": expected --tls, too");
        }
    }

    private String password(String of) {
        Path file = passwordFile;
        if (file == null) {
            String known = environment.get(PASSWORD_VARIABLE);
            if (known == null) {
                throw new IllegalArgumentException("--user " + of + ": expected the password in --password-file FILE or"
                        + " in the environment variable " + PASSWORD_VARIABLE);
            }
            return known;
        }
        try {
            return Files.readString(file, StandardCharsets.UTF_8)
                    .lines()
                    .findFirst()
                    .orElse("");
        } catch (IOException e) {
            throw new UserErrorException("--password-file " + file + ": cannot read the file: " + e.getMessage(), e);
        }
    }
}
