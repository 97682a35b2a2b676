package org.softrdma.cli.server;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.KvServerContext;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.server.host.TlsSettings.ClientCertificates;
import picocli.CommandLine.Option;

/** TLS of {@code softrdma server}: {@code -Z}, and memcached's words for it among those of {@code -o}. */
final class TlsOptions {
    private static final String PREFIX = "ssl_";
    private static final String CIPHER_SEPARATOR = ":";
    private static final int KIB = 1 << 10;

    @Option(
            names = {"-Z", "--enable-ssl"},
            description = "Encrypt the TCP port with TLS. -o ssl_chain_cert=FILE names the certificates, ssl_key=FILE"
                    + " the private key, both in PEM; ssl_ca_cert=FILE the authorities that sign clients' certificates;"
                    + " ssl_verify_mode=0|1|2 whether clients show one (0 no, 1 optional, 2 required);"
                    + " ssl_min_version=2|3 requires TLS 1.2 or 1.3; ssl_ciphers=NAME:NAME are Java's names of cipher"
                    + " suites. READs are not encrypted.")
    private boolean enabled;

    private @Nullable Path certificates;
    private @Nullable Path key;
    private @Nullable Path authorities;
    private ClientCertificates clients = ClientCertificates.IGNORED;
    private List<String> ciphers = List.of();
    private boolean onlyNewest;
    private boolean sessionsKept;
    private int bufferKib;

    TlsOptions() {}

    /**
     * Sets what the words about TLS say.
     *
     * @param words of {@code -o}
     * @param context takes it
     * @return the words about something else
     * @throws IllegalArgumentException naming the first word that is not good, and why
     */
    List<String> apply(List<String> words, KvServerContext context) {
        List<String> others = new ArrayList<>();
        for (String word : words) {
            if (!word.startsWith(PREFIX)) {
                others.add(word);
            } else if (!enabled) {
                throw new IllegalArgumentException("-o " + word + ": expected -Z as well");
            } else {
                take(word, word.substring(word.indexOf('=') + 1));
            }
        }
        if (enabled) {
            if (certificates == null) {
                throw new IllegalArgumentException("-Z: expected -o ssl_chain_cert=FILE as well");
            }
            TlsSettings settings = new TlsSettings(
                    certificates, key == null ? certificates : key, authorities, clients, ciphers, onlyNewest);
            settings = sessionsKept ? settings.keepingSessions() : settings;
            context.tls(bufferKib == 0 ? settings : settings.withBufferLength(bufferKib * KIB));
        }
        return others;
    }

    private void take(String word, String value) {
        switch (word.indexOf('=') < 0 ? word : word.substring(0, word.indexOf('='))) {
            case "ssl_chain_cert" -> certificates = file(word, value);
            case "ssl_key" -> key = file(word, value);
            case "ssl_ca_cert" -> authorities = file(word, value);
            case "ssl_verify_mode" ->
                clients = switch (value) {
                    case "0" -> ClientCertificates.IGNORED;
                    case "1" -> ClientCertificates.WANTED;
                    case "2", "3" -> ClientCertificates.NEEDED;
                    default -> throw new IllegalArgumentException("-o " + word + ": expected 0 to 3");
                };
            case "ssl_ciphers" -> ciphers = List.of(value.split(CIPHER_SEPARATOR));
            case "ssl_min_version" -> {
                expect(word, value.matches("[0-3]"), "0 to 3; the JDK does not support TLS 1.0 and 1.1 (0 and 1)");
                onlyNewest = value.equals("3");
            }
            case "ssl_keyformat" -> expect(word, value.equals("1"), "1, which is PEM");
            case "ssl_wbuf_size" -> {
                expect(word, value.matches("[0-9]{1,6}"), "a number");
                bufferKib = Integer.parseInt(value);
            }
            case "ssl_session_cache" -> sessionsKept = true;
            case "ssl_kernel_tls" -> expect(word, false, "no such word, because the JDK does the encryption itself");
            default ->
                expect(
                        word,
                        false,
                        "ssl_chain_cert, ssl_key, ssl_keyformat, ssl_verify_mode, ssl_ciphers, ssl_ca_cert,"
                                + " ssl_wbuf_size, ssl_session_cache or ssl_min_version");
        }
    }

    private static Path file(String word, String value) {
        expect(word, word.contains("=") && !value.isEmpty(), "a file");
        return Path.of(value);
    }

    private static void expect(String word, boolean holds, String expected) {
        if (!holds) {
            throw new IllegalArgumentException("-o " + word + ": expected " + expected);
        }
    }
}
