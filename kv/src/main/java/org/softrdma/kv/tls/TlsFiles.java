package org.softrdma.kv.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;

/** The files that TLS is configured with, and the sentences for what is wrong with them. */
public final class TlsFiles {
    private static final char[] NO_PASSWORD = {};

    private TlsFiles() {}

    /** Reads a file; the message of its failure begins with the file. */
    public interface Reader<T> {
        /**
         * Reads it.
         *
         * @param file readable
         * @throws IOException if it has not what it should
         */
        T read(Path file) throws IOException;
    }

    /**
     * Reads a file that a setting names.
     *
     * @param setting its name, for messages
     * @param file what it is set to
     * @param reader {@link PemFile#certificates} or {@link PemFile#key}
     * @throws IOException if it cannot be read; the message begins with the setting and the file
     */
    public static <T> T read(String setting, Path file, Reader<T> reader) throws IOException {
        if (!Files.isReadable(file)) {
            throw new IOException(setting + " " + file + ": there is no such file, or it may not be read");
        }
        try {
            return reader.read(file);
        } catch (IOException e) {
            throw new IOException(setting + " " + e.getMessage(), e);
        }
    }

    /**
     * The JDK's TLS.
     *
     * @param identity of {@link #identity}; null to show no certificate
     * @param setting name of the authorities, for messages
     * @param authorities PEM file of those who sign certificates of peers; null for those that the JDK trusts
     * @throws IOException if the file cannot be read; the message begins with the setting and the file
     * @throws GeneralSecurityException if the JDK has no TLS, or cannot keep the certificates
     */
    public static SSLContext context(KeyManager @Nullable [] identity, String setting, @Nullable Path authorities)
            throws IOException, GeneralSecurityException {
        @Nullable
        TrustManager @Nullable [] trust =
                authorities == null ? null : trust(read(setting, authorities, PemFile::certificates));
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(identity, trust, null);
        return context;
    }

    private static TrustManager[] trust(List<X509Certificate> authorities) throws GeneralSecurityException {
        KeyStore store = emptyStore();
        int number = 0;
        for (X509Certificate each : authorities) {
            store.setCertificateEntry("authority" + number++, each);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(store);
        return trust.getTrustManagers();
    }

    /**
     * What shows a certificate.
     *
     * @param chain the certificate, and those that have signed it
     * @param key of the certificate
     * @throws GeneralSecurityException if the JDK cannot keep them
     */
    public static KeyManager[] identity(List<X509Certificate> chain, PrivateKey key) throws GeneralSecurityException {
        KeyStore store = emptyStore();
        store.setKeyEntry("own", key, NO_PASSWORD, chain.toArray(Certificate[]::new));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, NO_PASSWORD);
        return keys.getKeyManagers();
    }

    private static KeyStore emptyStore() throws GeneralSecurityException {
        try {
            KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
            store.load(null, null);
            return store;
        } catch (IOException e) {
            throw new GeneralSecurityException(e.getMessage(), e); // nothing is loaded from anywhere
        }
    }

    /**
     * The message at the bottom of a failure, which says most.
     *
     * @param failure of the JDK's TLS
     */
    public static String reason(Throwable failure) {
        Throwable last = failure;
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            last = cause.getMessage() == null ? last : cause;
        }
        return String.valueOf(last.getMessage());
    }
}
