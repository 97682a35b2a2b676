package org.softrdma.bench.server;

import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;
import java.util.List;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.softrdma.bench.measurement.MeasurementException;

/** A certificate that signs itself, made by the JDK's keytool: in PEM for servers, as what to trust for their clients. */
public final class ServerCertificate implements AutoCloseable {
    private static final String STORE_TYPE = "PKCS12";
    private static final String PASSWORD = "not-secret";
    private static final String ALIAS = "server";
    private static final int LINE_LENGTH = 64;

    private final Path directory;
    private final SSLContext clients;

    private ServerCertificate(Path directory) throws IOException, GeneralSecurityException {
        this.directory = directory;
        KeyStore store = keyPair();
        Files.writeString(
                chain(), pem("CERTIFICATE", store.getCertificate(ALIAS).getEncoded()));
        Files.writeString(
                key(),
                pem("PRIVATE KEY", store.getKey(ALIAS, PASSWORD.toCharArray()).getEncoded()));
        KeyStore known = KeyStore.getInstance(STORE_TYPE);
        known.load(null, null);
        known.setCertificateEntry(ALIAS, store.getCertificate(ALIAS));
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(known);
        clients = SSLContext.getInstance("TLS");
        clients.init(null, trust.getTrustManagers(), null);
    }

    /**
     * Makes one, in a directory for temporary files.
     *
     * @throws MeasurementException if this JDK cannot
     */
    public static ServerCertificate generate() {
        try {
            return new ServerCertificate(Files.createTempDirectory("softrdma-tls"));
        } catch (IOException | GeneralSecurityException e) {
            throw new MeasurementException("no certificate for TLS: " + e.getMessage(), e);
        }
    }

    private KeyStore keyPair() throws IOException, GeneralSecurityException {
        Path file = directory.resolve("store");
        Process keytool = new ProcessBuilder(
                        keytool(),
                        "-genkeypair",
                        "-alias",
                        ALIAS,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=localhost",
                        "-ext",
                        "san=ip:127.0.0.1",
                        "-storetype",
                        STORE_TYPE,
                        "-storepass",
                        PASSWORD,
                        "-keystore",
                        file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!Files.exists(file)) {
            throw new IOException("keytool: " + said.strip());
        }
        return KeyStore.getInstance(file.toFile(), PASSWORD.toCharArray());
    }

    /** That of the JDK that runs this; the one on the path if the system does not tell. */
    private static String keytool() {
        String java = ProcessHandle.current().info().command().orElse("java");
        return Path.of(java).resolveSibling("keytool").toString();
    }

    private static String pem(String label, byte[] bytes) {
        String text = Base64.getMimeEncoder(LINE_LENGTH, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + label + "-----\n" + text + "\n-----END " + label + "-----\n";
    }

    Path chain() {
        return directory.resolve("chain.pem");
    }

    Path key() {
        return directory.resolve("key.pem");
    }

    /** What makes memcached, or a server with its options, speak TLS. */
    public List<String> options() {
        return List.of("-Z", "-o", "ssl_chain_cert=" + chain() + ",ssl_key=" + key());
    }

    /** For clients that trust this certificate and no other. */
    public SSLContext clients() {
        return clients;
    }

    /** A client's socket, not connected yet. */
    Socket socket() {
        try {
            return clients.getSocketFactory().createSocket();
        } catch (IOException e) {
            throw new MeasurementException("no socket for TLS: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        try {
            for (String name : List.of("store", "chain.pem", "key.pem")) {
                Files.deleteIfExists(directory.resolve(name));
            }
            Files.deleteIfExists(directory);
        } catch (IOException e) {
            throw new MeasurementException("cannot delete " + directory + ": " + e.getMessage(), e);
        }
    }
}
