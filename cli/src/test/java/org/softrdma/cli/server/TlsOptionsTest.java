package org.softrdma.cli.server;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.host.TlsSettings.ClientCertificates;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class TlsOptionsTest {
    @Command
    private static final class WithOptions {
        @Mixin
        private TlsOptions tls = new TlsOptions();
    }

    private static TlsOptions options(String... arguments) {
        WithOptions command = new WithOptions();
        new CommandLine(command).parseArgs(arguments);
        return command.tls;
    }

    @Test
    void shouldSetWhatTheWordsSayAndLeaveTheOthers() {
        KvServerContext context = new KvServerContext();
        List<String> others = options("-Z")
                .apply(
                        List.of(
                                "modern",
                                "ssl_chain_cert=a.crt",
                                "ssl_key=a.key",
                                "ssl_keyformat=1",
                                "ssl_ca_cert=ca.crt",
                                "ssl_verify_mode=3",
                                "ssl_ciphers=ONE:TWO",
                                "ssl_min_version=3",
                                "ssl_session_cache",
                                "ssl_wbuf_size=64",
                                "idle_timeout=3"),
                        context);
        assertEquals(List.of("modern", "idle_timeout=3"), others);
        assertEquals(
                new TlsSettings(
                                Path.of("a.crt"),
                                Path.of("a.key"),
                                Path.of("ca.crt"),
                                ClientCertificates.NEEDED,
                                List.of("ONE", "TWO"),
                                true)
                        .keepingSessions()
                        .withBufferLength(64 << 10),
                context.port().tls());
    }

    @Test
    void shouldLookForTheKeyAmongTheCertificatesUnlessTold() {
        KvServerContext context = new KvServerContext();
        options("--enable-ssl").apply(List.of("ssl_chain_cert=both.pem"), context);
        assertEquals(
                TlsSettings.of(Path.of("both.pem"), Path.of("both.pem")),
                context.port().tls());
    }

    @Test
    void shouldNotEncryptUnlessTold() {
        KvServerContext context = new KvServerContext();
        assertEquals(List.of("modern"), options().apply(List.of("modern"), context));
        assertNull(context.port().tls());
        assertTrue(failure("ssl_key=a", "-o").startsWith("-o ssl_key=a: expected -Z"));
        assertTrue(failure("modern", "-Z").startsWith("-Z: expected -o ssl_chain_cert"));
    }

    private static String failure(String word, String option) {
        TlsOptions options = option.equals("-Z") ? options("-Z") : options();
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> options.apply(List.of(word), new KvServerContext()))
                        .getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ssl_bogus",
                "ssl_chain_cert",
                "ssl_key=",
                "ssl_verify_mode=4",
                "ssl_verify_mode",
                "ssl_keyformat=2",
                "ssl_min_version=4",
                "ssl_wbuf_size=much",
                "ssl_kernel_tls"
            })
    void shouldNameAWordThatItCannotHeed(String word) {
        assertTrue(failure(word, "-Z").startsWith("-o " + word + ": expected"), failure(word, "-Z"));
    }
}
