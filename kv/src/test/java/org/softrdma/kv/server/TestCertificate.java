package org.softrdma.kv.server;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
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

/** A certificate that signs itself, made by the JDK's keytool: for servers in PEM, for clients of the JDK. */
public final class TestCertificate {
    private static final String PASSWORD = "not-secret";
    private static final String ALIAS = "it";

    private final KeyStore store;
    private final Path chain;
    private final Path key;

    /**
     * With a key of an elliptic curve.
     *
     * @param directory where its files are made
     * @param name of the files and of whom it names
     */
    public TestCertificate(Path directory, String name) throws Exception {
        this(directory, name, "EC");
    }

    TestCertificate(Path directory, String name, String algorithm) throws Exception {
        Path file = directory.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        System.getProperty("java.home") + File.separator + "bin" + File.separator + "keytool",
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        algorithm,
                        "-dname",
                        "CN=" + name,
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        "PKCS12",
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (keytool.waitFor() != 0) {
            throw new IOException("keytool: " + said);
        }
        store = KeyStore.getInstance("PKCS12");
        try (InputStream input = Files.newInputStream(file)) {
            store.load(input, PASSWORD.toCharArray());
        }
        chain = directory.resolve(name + ".crt");
        key = directory.resolve(name + ".key");
        Key secret = store.getKey(ALIAS, PASSWORD.toCharArray());
        Files.writeString(chain, pem("CERTIFICATE", certificate().getEncoded()));
        Files.writeString(key, pem("PRIVATE KEY", secret.getEncoded()));
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }

    /** The certificate. */
    public Certificate certificate() throws GeneralSecurityException {
        return store.getCertificate(ALIAS);
    }

    Path chain() {
        return chain;
    }

    Path key() {
        return key;
    }

    /** Puts this in the place of the files of another. */
    void replace(TestCertificate other) throws IOException {
        Files.copy(chain, other.chain, StandardCopyOption.REPLACE_EXISTING);
        Files.copy(key, other.key, StandardCopyOption.REPLACE_EXISTING);
    }

    /** What a client trusts that knows this certificate, and that shows another or none. */
    SSLContext clientOf(@Nullable TestCertificate own) throws Exception {
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
