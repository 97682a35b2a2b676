package org.softrdma.kv.server.tls;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import org.softrdma.kv.server.host.PortSecurity;
import org.softrdma.kv.server.host.TlsSettings;
import org.softrdma.kv.tls.CertificateKey;
import org.softrdma.kv.tls.PemFile;
import org.softrdma.kv.tls.TlsFiles;

/**
 * TLS of the memcached port, by the JDK's provider. A connection keeps the certificates that it began with. Any thread.
 */
public final class TlsPort implements PortSecurity {
    private static final int SESSION_SECONDS = (int) TimeUnit.DAYS.toSeconds(1);

    private static final String[] TLS_1_3 = {"TLSv1.3"};
    private static final String[] FROM_TLS_1_2 = {"TLSv1.3", "TLSv1.2"};

    private final TlsSettings settings;
    private final LongAdder handshakeErrors = new LongAdder();
    private volatile Loaded loaded;

    /** What was read from the files, and when. */
    private record Loaded(SSLContext context, long atNs) {}

    /**
     * Reads the files, and tries a handshake with them.
     *
     * @throws IOException if one of them is not good, or if no handshake can succeed; the message says why
     */
    public TlsPort(TlsSettings settings) throws IOException {
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
            SSLContext context =
                    TlsFiles.context(TlsFiles.identity(chain, secret), "ssl_ca_cert", settings.authorities());
            context.getServerSessionContext().setSessionTimeout(settings.sessionsKept() ? SESSION_SECONDS : 1);
            TrialHandshake.with(engine(context, settings)); // finds unknown cipher suites, too
            return new Loaded(context, System.nanoTime());
        } catch (SSLException | GeneralSecurityException | IllegalArgumentException e) {
            throw new IOException(
                    "TLS with the certificate " + settings.certificates() + " and the key " + settings.key() + ": "
                            + TlsFiles.reason(e),
                    e);
        }
    }

    /** What connections that come now are encrypted with. */
    public SSLContext context() {
        return loaded.context();
    }

    /**
     * What encrypts one connection.
     *
     * @param context of {@link #context}
     */
    public SSLEngine engine(SSLContext context) {
        return engine(context, settings);
    }

    private static SSLEngine engine(SSLContext context, TlsSettings settings) {
        SSLEngine engine = context.createSSLEngine();
        engine.setUseClientMode(false);
        engine.setEnabledProtocols(settings.onlyNewest() ? TLS_1_3 : FROM_TLS_1_2);
        if (!settings.ciphers().isEmpty()) {
            engine.setEnabledCipherSuites(settings.ciphers().toArray(String[]::new));
        }
        switch (settings.clients()) {
            case IGNORED -> {}
            case WANTED -> engine.setWantClientAuth(true);
            case NEEDED -> engine.setNeedClientAuth(true);
        }
        return engine;
    }

    /** A client did not get as far as an encrypted connection. */
    public void handshakeFailed() {
        handshakeErrors.increment();
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
