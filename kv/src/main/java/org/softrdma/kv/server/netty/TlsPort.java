package org.softrdma.kv.server.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.server.host.TlsSettings;

/**
 * TLS of the memcached port: Netty's handler and the JDK's provider. A connection keeps the certificates that it
 * began with. Any thread.
 */
final class TlsPort implements PortSecurity {
    /** A client that says nothing costs a connection; memcached lets it. */
    private static final long HANDSHAKE_TIMEOUT_MS = TimeUnit.SECONDS.toMillis(10);

    private static final long SESSION_SECONDS = TimeUnit.DAYS.toSeconds(1);

    private static final String[] TLS_1_3 = {"TLSv1.3"};
    private static final String[] FROM_TLS_1_2 = {"TLSv1.3", "TLSv1.2"};

    private final TlsSettings settings;
    private final LongAdder handshakeErrors = new LongAdder();
    private volatile Loaded loaded;

    /** What was read from the files, and when. */
    private record Loaded(SslContext context, long atNs) {}

    /**
     * Reads the files.
     *
     * @throws IOException if one of them is not good; the message says which
     */
    TlsPort(TlsSettings settings) throws IOException {
        this.settings = settings;
        this.loaded = load(settings);
    }

    private static Loaded load(TlsSettings settings) throws IOException {
        try {
            SslContextBuilder builder = SslContextBuilder.forServer(
                            new ByteArrayInputStream(
                                    PemFile.certificates(file("ssl_chain_cert", settings.certificates()))),
                            new ByteArrayInputStream(PemFile.key(file("ssl_key", settings.key()))))
                    .sslProvider(SslProvider.JDK)
                    .protocols(settings.onlyNewest() ? TLS_1_3 : FROM_TLS_1_2)
                    .sessionTimeout(settings.sessionsKept() ? SESSION_SECONDS : 1)
                    .clientAuth(
                            switch (settings.clients()) {
                                case IGNORED -> ClientAuth.NONE;
                                case WANTED -> ClientAuth.OPTIONAL;
                                case NEEDED -> ClientAuth.REQUIRE;
                            });
            if (!settings.ciphers().isEmpty()) {
                builder.ciphers(settings.ciphers());
            }
            Path authorities = settings.authorities();
            if (authorities != null) {
                builder.trustManager(trust(authorities));
            }
            SslContext context = builder.build();
            context.newEngine(UnpooledByteBufAllocator.DEFAULT); // which is where an unknown cipher suite is found
            return new Loaded(context, System.nanoTime());
        } catch (SSLException | IllegalArgumentException e) {
            throw new IOException(
                    "TLS with the certificate " + settings.certificates() + " and the key " + settings.key() + ": "
                            + reason(e),
                    e);
        }
    }

    private static Path file(String word, Path path) throws IOException {
        if (!Files.isReadable(path)) {
            throw new IOException(word + " " + path + ": there is no such file, or it may not be read");
        }
        return path;
    }

    /** Read here, and not by Netty, whose message for a file without certificates does not name it. */
    private static TrustManagerFactory trust(Path authorities) throws IOException {
        try {
            InputStream pem = new ByteArrayInputStream(PemFile.certificates(file("ssl_ca_cert", authorities)));
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            int number = 0;
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(pem)) {
                store.setCertificateEntry("authority" + number++, each);
            }
            if (number == 0) {
                throw new IOException("ssl_ca_cert " + authorities + ": expected certificates in PEM");
            }
            TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
            trust.init(store);
            return trust;
        } catch (GeneralSecurityException e) {
            throw new IOException("ssl_ca_cert " + authorities + ": " + reason(e), e);
        }
    }

    /** What stands at the bottom of a failure says most. */
    private static String reason(Throwable failure) {
        Throwable last = failure;
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            last = cause.getMessage() == null ? last : cause;
        }
        return String.valueOf(last.getMessage());
    }

    /** What encrypts one connection. */
    SslHandler handler(ByteBufAllocator allocator) {
        SslHandler handler = loaded.context().newHandler(allocator);
        handler.setHandshakeTimeoutMillis(HANDSHAKE_TIMEOUT_MS);
        handler.handshakeFuture().addListener(handshake -> {
            if (!handshake.isSuccess()) {
                handshakeErrors.increment();
            }
        });
        return handler;
    }

    @Override
    public void refresh() throws IOException {
        loaded = load(settings);
    }

    @Override
    public long handshakeErrors() {
        return handshakeErrors.sum();
    }

    @Override
    public long refreshedNs() {
        return loaded.atNs();
    }
}
