package org.softrdma.kv.client.network;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.tls.CertificateKey;
import org.softrdma.kv.tls.PemFile;
import org.softrdma.kv.tls.TlsFiles;

/**
 * TLS of a client's memcached connections, by the JDK. The server's certificate must name the host that the client
 * connects to (RFC 9525), or {@code name}. Any thread.
 *
 * @param context whom the client trusts, and the certificate it shows
 * @param name what the certificate must name instead of the host; null for the host
 */
public record ClientTls(SSLContext context, @Nullable String name) {
    /**
     * TLS as the JDK is set up.
     *
     * @throws IOException if the JDK has none
     */
    public static ClientTls ofJdk() throws IOException {
        return of(null, null, null);
    }

    /**
     * TLS by files in PEM.
     *
     * @param authorities who signs certificates of servers; null for those that the JDK trusts
     * @param certificates the client's certificate, and the chain that signed it; null to show none
     * @param key its private key without a password; null if it is in the file of the certificate
     * @throws IOException if a file is missing or not what it should be; the message says which and why
     */
    public static ClientTls of(@Nullable Path authorities, @Nullable Path certificates, @Nullable Path key)
            throws IOException {
        if (certificates == null && key != null) {
            throw new IOException("a key without a certificate: expected the certificate of " + key);
        }
        try {
            SSLContext context = TlsFiles.context(
                    certificates == null ? null : identity(certificates, key == null ? certificates : key),
                    "authorities",
                    authorities);
            return new ClientTls(context, null);
        } catch (GeneralSecurityException e) {
            throw new IOException("no TLS: " + TlsFiles.reason(e), e);
        }
    }

    private static KeyManager[] identity(Path certificates, Path key) throws IOException, GeneralSecurityException {
        List<X509Certificate> chain = TlsFiles.read("certificate", certificates, PemFile::certificates);
        PrivateKey secret = CertificateKey.of(chain.getFirst(), TlsFiles.read("key", key, PemFile::key));
        if (secret == null) {
            throw new IOException("key " + key + " is not the key of the first certificate of " + certificates + ", of "
                    + chain.getFirst().getSubjectX500Principal());
        }
        return TlsFiles.identity(chain, secret);
    }

    /**
     * The same, for servers whose certificate names something else than the host: an address, or several servers with
     * one certificate.
     *
     * @param expected the name of a host, or an address
     */
    public ClientTls named(String expected) {
        return new ClientTls(context, expected);
    }

    /** What encrypts a connection. */
    SSLEngine engine(InetSocketAddress server) {
        SSLEngine engine = context.createSSLEngine(name == null ? server.getHostString() : name, server.getPort());
        engine.setUseClientMode(true);
        SSLParameters parameters = engine.getSSLParameters();
        parameters.setEndpointIdentificationAlgorithm("HTTPS");
        engine.setSSLParameters(parameters);
        return engine;
    }
}
