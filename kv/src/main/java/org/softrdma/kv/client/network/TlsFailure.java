package org.softrdma.kv.client.network;

import java.io.EOFException;
import java.io.IOException;
import java.security.cert.CertPathBuilderException;
import java.security.cert.CertPathValidatorException;
import java.security.cert.CertPathValidatorException.BasicReason;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;
import org.jspecify.annotations.Nullable;
import org.softrdma.kv.tls.TlsFiles;

/** Says why a handshake failed, and what to do. Stateless. */
final class TlsFailure {
    private TlsFailure() {}

    /** The same failure with a sentence that follows the name of the server. */
    static IOException of(Exception failure) {
        return new IOException("TLS failed: " + sentence(failure), failure);
    }

    /** A server that hangs up in the middle of a handshake. */
    static IOException closed() {
        return new EOFException("it closed the connection during the TLS handshake: does its port speak TLS (-Z)?");
    }

    private static String sentence(Exception failure) {
        for (@Nullable Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof CertificateExpiredException || isExpired(cause)) {
                return "the server's certificate has expired (" + TlsFiles.reason(failure) + ")";
            }
            if (cause instanceof CertificateNotYetValidException) {
                return "the server's certificate is not valid yet (" + TlsFiles.reason(failure) + ")";
            }
            if (cause instanceof CertPathBuilderException) {
                return "nobody whom this client trusts has signed the server's certificate; expected one by an"
                        + " authority that the JDK trusts, or that the client is given (ClientTls, or --tls-ca of kv: "
                        + TlsFiles.reason(failure) + ")";
            }
            if (cause.getClass() == CertificateException.class) {
                return "the server's certificate is for another name; the expected name can be set (ClientTls.named,"
                        + " or --tls-name of kv: " + TlsFiles.reason(failure) + ")";
            }
        }
        String reason = TlsFiles.reason(failure);
        if (reason.contains("certificate_required") || reason.contains("bad_certificate")) {
            return "the server wants a certificate of this client, by an authority that it trusts (" + reason + ")";
        }
        if (reason.contains("not an SSL") || reason.contains("Unsupported or unrecognized SSL message")) {
            return "the server's port does not speak TLS (" + reason + ")";
        }
        return reason;
    }

    private static boolean isExpired(Throwable cause) {
        return cause instanceof CertPathValidatorException path && path.getReason() == BasicReason.EXPIRED;
    }
}
