package org.softrdma.kv.tls;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.kv.server.TestCertificate;

class PemFileTest {
    /** What OpenSSL writes above a certificate, and before a key of a curve. */
    private static final String TEXT = "Certificate:\n    Data:\n        Version: 3 (0x2)\n";

    private static final String CURVE =
            "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

    @TempDir
    private Path directory;

    private static String pem(String label, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\r', '\n'}).encodeToString(bytes);
        return "-----BEGIN " + label + "-----\r\n" + text + "\r\n-----END " + label + "-----\r\n";
    }

    private Path file(String text) throws IOException {
        return Files.writeString(directory.resolve("file.pem"), text);
    }

    private byte[] key(String text) throws IOException {
        return PemFile.key(file(text));
    }

    private static byte[] generated(String algorithm) throws GeneralSecurityException {
        KeyPairGenerator generator = KeyPairGenerator.getInstance(algorithm);
        if (algorithm.equals("RSA")) {
            generator.initialize(1024); // a key of the usual length takes seconds
        }
        return generator.generateKeyPair().getPrivate().getEncoded();
    }

    @ParameterizedTest
    @ValueSource(strings = {"RSA", "EC", "Ed25519"})
    void shouldKeepWhatIsPkcs8(String algorithm) throws Exception {
        byte[] key = generated(algorithm);
        assertArrayEquals(key, key(TEXT + pem("CERTIFICATE", new byte[100]) + pem("PRIVATE KEY", key)));
    }

    @ParameterizedTest
    @ValueSource(ints = {512, 1024, 2048})
    void shouldReadRsaKeysThatArePkcs1(int bits) throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
        generator.initialize(bits);
        byte[] key = generator.generateKeyPair().getPrivate().getEncoded();
        int inner = 26; // headers of two or three bytes of length, version, algorithm
        assertEquals(0x30, key[inner]);
        byte[] pkcs1 = Arrays.copyOfRange(key, inner, key.length);
        assertArrayEquals(key, key(pem("RSA PRIVATE KEY", pkcs1) + pem("CERTIFICATE", new byte[100])));
    }

    @Test
    void shouldReadKeysOfCurvesByRfc5915() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        ECPrivateKey key = (ECPrivateKey) generator.generateKeyPair().getPrivate();
        String number = String.format("%064x", key.getS());
        byte[] own =
                HexFormat.of().parseHex("3031" + "020101" + "0420" + number + "A00A" + "0608" + "2A8648CE3D030107");
        byte[] pkcs8 = key(CURVE + pem("EC PRIVATE KEY", own));
        ECPrivateKey read = (ECPrivateKey) KeyFactory.getInstance("EC").generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
        assertEquals(key.getS(), read.getS());
        assertEquals(key.getParams().getCurve(), read.getParams().getCurve());
    }

    /** With the public key, and longer than 127 bytes. */
    @Test
    void shouldReadKeysOfCurvesAsOpenSslWritesThem() throws Exception {
        KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
        generator.initialize(new ECGenParameterSpec("secp256r1"));
        ECPrivateKey key = (ECPrivateKey) generator.generateKeyPair().getPrivate();
        String curve = "06082A8648CE3D030107";
        String own = "3077" + "020101" + "0420" + String.format("%064X", key.getS()) + "A00A" + curve + "A1440342"
                + "00".repeat(66);
        byte[] pkcs8 = key(pem("EC PRIVATE KEY", HexFormat.of().parseHex(own)));
        assertEquals(
                "308193" + "020100" + "3013" + "06072A8648CE3D0201" + curve + "0479" + own,
                HexFormat.of().withUpperCase().formatHex(pkcs8));
    }

    /** OpenSSL's TRUSTED CERTIFICATE has something behind the certificate. */
    @Test
    void shouldFindCertificatesAmongOtherThings() throws Exception {
        byte[] certificate = new TestCertificate(directory, "it").certificate().getEncoded();
        byte[] trusted = Arrays.copyOf(certificate, certificate.length + 7);
        List<X509Certificate> found = PemFile.certificates(file(TEXT
                + pem("CERTIFICATE", certificate)
                + pem("RSA PRIVATE KEY", certificate)
                + TEXT
                + pem("TRUSTED CERTIFICATE", trusted)));
        assertEquals(2, found.size());
        for (X509Certificate each : found) {
            assertArrayEquals(certificate, each.getEncoded());
        }
    }

    @Test
    void shouldSayWhatIsWrongWithCertificates() throws Exception {
        assertRefused("expected certificates in PEM", "nothing", PemFile::certificates);
        assertRefused("its certificate 1 is damaged", pem("CERTIFICATE", new byte[] {0x30, 1}), PemFile::certificates);
    }

    @Test
    void shouldSayWhatIsWrongWithAKey() throws Exception {
        byte[] key = generated("EC");
        assertRefused("expected a private key in PEM", "nothing");
        assertRefused("expected a private key in PEM", pem("PUBLIC KEY", key));
        assertRefused("expected a private key without a password", pem("ENCRYPTED PRIVATE KEY", key));
        assertRefused("expected a private key without a password", """
            -----BEGIN RSA PRIVATE KEY-----
            Proc-Type: 4,ENCRYPTED
            DEK-Info: AES-256-CBC,00

            AAAA
            -----END RSA PRIVATE KEY-----
            """);
        assertRefused("its private key is damaged", pem("EC PRIVATE KEY", new byte[] {0x30, 3, 2, 1, 1}));
    }

    private void assertRefused(String expected, String text) throws IOException {
        assertRefused(expected, text, PemFile::key);
    }

    private interface Reader {
        Object read(Path file) throws IOException;
    }

    private void assertRefused(String expected, String text, Reader reader) throws IOException {
        Path file = file(text);
        IOException refused = assertThrows(IOException.class, () -> reader.read(file), text);
        assertEquals(file + ": " + expected, refused.getMessage());
    }
}
