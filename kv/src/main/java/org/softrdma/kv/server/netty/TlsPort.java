package org.softrdma.kv.server.netty;

import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.ssl.SslProvider;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLException;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.tls.CertificateKey;
import org.softrdma.kv.tls.PemFile;
import org.softrdma.kv.tls.TlsFiles;

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
     * Reads the files, and tries a handshake with them.
     *
     * @throws IOException if one of them is not good, or if no handshake can succeed; the message says why
     */
    TlsPort(TlsSettings settings) throws IOException {
        this.settings = settings;
        this.loaded = load(settings);
    }

    private static Loaded load(TlsSettings settings) throws IOException {
        List<X509Certificate> chain = TlsFiles.read("ssl_chain_cert", settings.certificates(), PemFile::certificates);
        byte[] key = TlsFiles.read("ssl_key", settings.key(), PemFile::key);
        try {
            PrivateKey secret = CertificateKey.of(chain.getFirst(), key);
            if (secret == null) {
                throw new IOException("ssl_key " + settings.key() + " is not the key of ssl_chain_cert "
                        + settings.certificates() + ": expected the private key of its first certificate, of "
                        + chain.getFirst().getSubjectX500Principal());
            }
            SslContextBuilder builder = SslContextBuilder.forServer(secret, chain)
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
                builder.trustManager(TlsFiles.trust(TlsFiles.read("ssl_ca_cert", authorities, PemFile::certificates)));
            }
            SslContext context = builder.build();
            TrialHandshake.with(
                    context.newEngine(UnpooledByteBufAllocator.DEFAULT)); // finds unknown cipher suites, too
            return new Loaded(context, System.nanoTime());
        } catch (SSLException | GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException(
                    "TLS with the certificate " + settings.certificates() + " and the key " + settings.key() + ": "
                            + TlsFiles.reason(e),
                    e);
        }
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
