package org.softrdma.kv.tls;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The blocks of a file in PEM (RFC 7468), among text of any kind. Private keys come out as PKCS #8 (RFC 5958), the only
 * form that the JDK reads; OpenSSL also writes those of RSA as PKCS #1 (RFC 8017) and those of elliptic curves by RFC
 * 5915. No state; any thread.
 */
public final class PemFile {
    private static final Pattern KEY = block("[A-Z ]*PRIVATE KEY");
    private static final Pattern CERTIFICATE = block("(?:X509 |TRUSTED )?CERTIFICATE");

    private static final int INTEGER = 0x02;
    private static final int OCTETS = 0x04;
    private static final int SEQUENCE = 0x30;
    /** The curve, in a key by RFC 5915. */
    private static final int PARAMETERS = 0xA0;

    private static final int LONG_LENGTH = 0x80;

    private static final byte[] VERSION_0 = {INTEGER, 1, 0};
    /** rsaEncryption, 1.2.840.113549.1.1.1, without parameters. */
    private static final byte[] RSA = {
        0x30, 0x0D, 0x06, 0x09, 0x2A, (byte) 0x86, 0x48, (byte) 0x86, (byte) 0xF7, 0x0D, 0x01, 0x01, 0x01, 0x05, 0x00
    };
    /** id-ecPublicKey, 1.2.840.10045.2.1. */
    private static final byte[] ELLIPTIC = {0x06, 0x07, 0x2A, (byte) 0x86, 0x48, (byte) 0xCE, 0x3D, 0x02, 0x01};

    private PemFile() {}

    private static Pattern block(String label) {
        return Pattern.compile("-----BEGIN (" + label + ")-----(.*?)-----END \\1-----", Pattern.DOTALL);
    }

    /**
     * The certificates of a file.
     *
     * @return at least one
     * @throws IOException if there is none, or one that is damaged; the message says so
     */
    public static List<X509Certificate> certificates(Path file) throws IOException {
        List<X509Certificate> all = new ArrayList<>();
        Matcher found = CERTIFICATE.matcher(text(file));
        while (found.find()) {
            try {
                InputStream der =
                        new ByteArrayInputStream(Base64.getMimeDecoder().decode(found.group(2)));
                all.add((X509Certificate)
                        CertificateFactory.getInstance("X.509").generateCertificate(der));
            } catch (CertificateException | IllegalArgumentException e) {
                throw new IOException(file + ": its certificate " + (all.size() + 1) + " is damaged", e);
            }
        }
        if (all.isEmpty()) {
            throw new IOException(file + ": expected certificates in PEM");
        }
        return all;
    }

    /**
     * The first private key of a file.
     *
     * @return its bytes, as PKCS #8
     * @throws IOException if there is none, or one with a password; the message says so
     */
    public static byte[] key(Path file) throws IOException {
        Matcher found = KEY.matcher(text(file));
        if (!found.find()) {
            throw new IOException(file + ": expected a private key in PEM");
        }
        String label = found.group(1);
        String body = found.group(2);
        if (label.startsWith("ENCRYPTED") || body.contains("ENCRYPTED")) {
            throw new IOException(file + ": expected a private key without a password");
        }
        try {
            byte[] der = Base64.getMimeDecoder().decode(body);
            return switch (label) {
                case "RSA PRIVATE KEY" -> der(SEQUENCE, VERSION_0, RSA, der(OCTETS, der));
                case "EC PRIVATE KEY" ->
                    der(SEQUENCE, VERSION_0, der(SEQUENCE, ELLIPTIC, curve(der)), der(OCTETS, der));
                default -> der;
            };
        } catch (IllegalArgumentException | ArrayIndexOutOfBoundsException e) {
            throw new IOException(file + ": its private key is damaged", e);
        }
    }

    private static String text(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.ISO_8859_1);
    }

    /** The object identifier of the curve: SEQUENCE (INTEGER, OCTET STRING, [0] curve, ...). */
    private static byte[] curve(byte[] key) {
        int at = body(key, 0);
        while ((key[at] & 0xFF) != PARAMETERS) {
            at = body(key, at) + length(key, at);
        }
        int from = body(key, at);
        return Arrays.copyOfRange(key, from, from + length(key, at));
    }

    private static int body(byte[] der, int at) {
        int length = der[at + 1] & 0xFF;
        return at + 2 + (length < LONG_LENGTH ? 0 : length - LONG_LENGTH);
    }

    private static int length(byte[] der, int at) {
        int length = der[at + 1] & 0xFF;
        if (length < LONG_LENGTH) {
            return length;
        }
        int sum = 0;
        for (int i = at + 2; i < body(der, at); i++) {
            sum = sum << Byte.SIZE | (der[i] & 0xFF);
        }
        return sum;
    }

    private static byte[] der(int tag, byte[]... parts) {
        int length = 0;
        for (byte[] part : parts) {
            length += part.length;
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        out.write(tag);
        if (length < LONG_LENGTH) {
            out.write(length);
        } else {
            int bytes = length < 1 << Byte.SIZE ? 1 : 2; // DER: no byte more than needed
            out.write(LONG_LENGTH | bytes);
            for (int i = bytes - 1; i >= 0; i--) {
                out.write(length >> (i * Byte.SIZE));
            }
        }
        for (byte[] part : parts) {
            out.writeBytes(part);
        }
        return out.toByteArray();
    }
}
