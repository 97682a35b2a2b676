package org.softrdma.kv.server;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.SecureRandom;
import java.security.cert.Certificate;
import java.util.Base64;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/**
 * A certificate that signs itself, or the first of a chain: for servers in PEM, for clients of the JDK. {@code certificates.p12} has them all: a key
 * takes seconds to make. Each was made by keytool:
 *
 * <pre>{@code
 * keytool -genkeypair -alias NAME -keyalg ALGORITHM -dname CN=NAME -ext san=ip:127.0.0.1 -validity 36500 \
 *     -storetype PKCS12 -storepass not-secret -keystore certificates.p12
 * }</pre>
 *
 * <p>Those of {@code expired} and {@code late} were valid in January 2020, by {@code -startdate 2020/01/01 -validity 30}.
 * {@code authority} (with {@code -ext bc:c}) has signed {@code late}, by keytool's certreq, gencert and importcert.
 */
public final class TestCertificate {
    private static final String PASSWORD = "not-secret";

    private final String name;
    private final KeyStore store;
    private final Path chain;
    private final Path key;

    /**
     * Takes one.
     *
     * @param directory where its files are made
     * @param name of the files, of whom it names, and in the key store
     */
    public TestCertificate(Path directory, String name) throws Exception {
        this.name = name;
        KeyStore all = KeyStore.getInstance("PKCS12");
        try (InputStream input = TestCertificate.class.getResourceAsStream("certificates.p12")) {
            all.load(input, PASSWORD.toCharArray());
        }
        Key secret = all.getKey(name, PASSWORD.toCharArray());
        store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        store.setKeyEntry(name, secret, PASSWORD.toCharArray(), all.getCertificateChain(name));
        chain = directory.resolve(name + ".crt");
        key = directory.resolve(name + ".key");
        Files.writeString(chain, pem("CERTIFICATE", certificate().getEncoded()));
        Files.writeString(key, pem("PRIVATE KEY", secret.getEncoded()));
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }

    /** The certificate. */
    public Certificate certificate() throws GeneralSecurityException {
        return store.getCertificate(name);
    }

    /** PEM file of the certificate. */
    public Path chain() {
        return chain;
    }

    /** PEM file of its key. */
    public Path key() {
        return key;
    }

    /** Puts this in the place of the files of another. */
    void replace(TestCertificate other) throws IOException {
        Files.copy(chain, other.chain, StandardCopyOption.REPLACE_EXISTING);
        Files.copy(key, other.key, StandardCopyOption.REPLACE_EXISTING);
    }

    /** What a client trusts that knows this certificate, and that shows another or none. */
    public SSLContext clientOf(@Nullable TestCertificate own) throws Exception {
        KeyStore known = KeyStore.getInstance("PKCS12");
        known.load(null, null);
        known.setCertificateEntry("server", certificate());
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        if (own != null) {
            keys.init(own.store, PASSWORD.toCharArray());
        }
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(own == null ? null : keys.getKeyManagers(), trust.getTrustManagers(), new SecureRandom());
        return context;
    }
}
