package org.softrdma.kv.client.network;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;
import tlschannel.ClientTlsChannel;
import tlschannel.NeedsReadException;
import tlschannel.NeedsWriteException;
import tlschannel.TlsChannel;

/**
 * TLS on a socket that does not block. It may hold decrypted bytes that no selector tells of, and encrypted ones that
 * the socket had no room for.
 */
final class TlsBytes {
    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final SSLEngine engine;
    private final TlsChannel channel;
    private boolean wantsRoom;
    private boolean mayHoldMore;

    TlsBytes(SocketChannel socket, SSLEngine engine) {
        this.engine = engine;
        channel = ClientTlsChannel.newBuilder(socket, engine).build();
    }

    /** True once the handshake is over. */
    boolean finishHandshake() throws IOException {
        try {
            channel.handshake();
            wantsRoom = false;
            // The JDK does not look at the time where the certificate itself is one of those that are trusted.
            if (engine.getSession().getPeerCertificates()[0] instanceof X509Certificate certificate) {
                certificate.checkValidity();
            }
            return true;
        } catch (NeedsReadException e) {
            wantsRoom = false;
        } catch (NeedsWriteException e) {
            wantsRoom = true;
        } catch (SSLException | CertificateException e) {
            throw TlsFailure.of(e);
        } catch (ClosedChannelException e) {
            throw TlsFailure.closed();
        }
        return false;
    }

    /** Bytes taken, which may be none; -1 at the end of the stream. */
    int read(ByteBuffer target) throws IOException {
        mayHoldMore = false;
        try {
            int length = channel.read(target);
            mayHoldMore = length > 0;
            return length;
        } catch (NeedsReadException e) {
            return 0;
        } catch (NeedsWriteException e) {
            wantsRoom = true;
            return 0;
        } catch (SSLException e) {
            throw TlsFailure.of(e);
        }
    }

    /** Gives away what there is room for. */
    void write(ByteBuffer source) throws IOException {
        try {
            channel.write(source);
            wantsRoom = false;
        } catch (NeedsReadException e) {
            wantsRoom = false; // the server's part of a new handshake comes first
        } catch (NeedsWriteException e) {
            wantsRoom = true;
        } catch (SSLException e) {
            throw TlsFailure.of(e);
        }
    }

    /** Sends what the socket had no room for. */
    void flush() throws IOException {
        if (wantsRoom) {
            write(NOTHING);
        }
    }

    /** True while encrypted bytes wait for room. */
    boolean wantsRoom() {
        return wantsRoom;
    }

    /** True unless the last read has found nothing. */
    boolean mayHoldMore() {
        return mayHoldMore;
    }

    /** Says goodbye, if there is room for it, and closes the socket. */
    void close() throws IOException {
        channel.close();
    }
}
