package org.softrdma.kv.server.host;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * TLS of the memcached port, in the terms of memcached's {@code -o ssl_...}: a part of the server's settings.
 *
 * @param certificates PEM file of the server's certificate, followed by those that have signed it
 * @param key PEM file of its private key, without a password
 * @param authorities PEM file of those who sign certificates of clients; null for those that the JDK knows
 * @param clients whether clients show certificates
 * @param ciphers the JDK's names of cipher suites; empty for the JDK's choice
 * @param onlyNewest whether nothing older than TLS 1.3 is spoken; otherwise nothing older than 1.2
 * @param sessionsKept whether clients resume sessions for a day; otherwise for a second, the shortest time of the JDK
 * @param bufferLength bytes, only shown: buffers grow as needed
 */
public record TlsSettings(
        Path certificates,
        Path key,
        @Nullable Path authorities,
        ClientCertificates clients,
        List<String> ciphers,
        boolean onlyNewest,
        boolean sessionsKept,
        int bufferLength) {
    /** memcached's. */
    public static final int DEFAULT_BUFFER_LENGTH = 16 << 10;

    /** Whether clients show certificates. */
    public enum ClientCertificates {
        /** They are not asked for any; memcached's 0. */
        IGNORED,
        /** They may, and if they do it must be a good one; memcached's 1. */
        WANTED,
        /** They must; memcached's 2 and 3. */
        NEEDED
    }

    /** With memcached's defaults for sessions and buffers. */
    public TlsSettings(
            Path certificates,
            Path key,
            @Nullable Path authorities,
            ClientCertificates clients,
            List<String> ciphers,
            boolean onlyNewest) {
        this(certificates, key, authorities, clients, ciphers, onlyNewest, false, DEFAULT_BUFFER_LENGTH);
    }

    /**
     * TLS with a certificate, and clients that need none.
     *
     * @param certificates PEM file of the server's certificates
     * @param key PEM file of its private key
     */
    public static TlsSettings of(Path certificates, Path key) {
        return new TlsSettings(certificates, key, null, ClientCertificates.IGNORED, List.of(), false);
    }

    /** The same, but clients can resume sessions. */
    public TlsSettings keepingSessions() {
        return new TlsSettings(certificates, key, authorities, clients, ciphers, onlyNewest, true, bufferLength);
    }

    /**
     * The same, but with buffers of another length.
     *
     * @param bytes shown by {@code stats settings}
     */
    public TlsSettings withBufferLength(int bytes) {
        return new TlsSettings(certificates, key, authorities, clients, ciphers, onlyNewest, sessionsKept, bytes);
    }
}
