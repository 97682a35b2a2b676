package org.softrdma.kv.tls;

import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.SignatureException;
import java.security.cert.X509Certificate;
import java.security.interfaces.RSAKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import org.jspecify.annotations.Nullable;

/** The private key of a certificate: what it signs, the certificate proves. No state; any thread. */
public final class CertificateKey {
    private static final byte[] ANYTHING = {1, 2, 3, 4};

    private CertificateKey() {}

    /**
     * Reads a key.
     *
     * @param certificate whose key it is
     * @param pkcs8 the key (RFC 5958)
     * @return the key; null if it is another's
     * @throws GeneralSecurityException if the JDK cannot use keys of this kind
     */
    public static @Nullable PrivateKey of(X509Certificate certificate, byte[] pkcs8) throws GeneralSecurityException {
        String algorithm = certificate.getPublicKey().getAlgorithm();
        PrivateKey key;
        try {
            key = KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
        } catch (InvalidKeySpecException e) {
            return null; // of another algorithm
        }
        return belongs(certificate, key, algorithm) ? key : null;
    }

    private static boolean belongs(X509Certificate certificate, PrivateKey key, String algorithm)
            throws GeneralSecurityException {
        if (key instanceof RSAKey secret && certificate.getPublicKey() instanceof RSAKey known) {
            return secret.getModulus().equals(known.getModulus()); // whatever it may sign
        }
        Signature signature = Signature.getInstance(algorithm.equals("EC") ? "SHA256withECDSA" : algorithm);
        signature.initSign(key);
        signature.update(ANYTHING);
        byte[] signed = signature.sign();
        signature.initVerify(certificate.getPublicKey());
        signature.update(ANYTHING);
        try {
            return signature.verify(signed);
        } catch (SignatureException e) {
            return false; // of another curve
        }
    }
}
