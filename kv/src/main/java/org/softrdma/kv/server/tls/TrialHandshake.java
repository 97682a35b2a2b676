package org.softrdma.kv.server.tls;

import java.net.Socket;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;

/**
 * A handshake within this process, with a client that believes all it is shown and can do all that the JDK can: if it
 * fails, so does every client's. No state; any thread.
 */
final class TrialHandshake {
    /** Far more than a handshake takes. */
    private static final int MOST_ROUNDS = 1000;

    private TrialHandshake() {}

    /**
     * Tries a handshake.
     *
     * @param server as for a connection; of no use afterwards
     * @throws SSLException if it fails
     * @throws GeneralSecurityException if the JDK has no TLS for a client
     */
    static void with(SSLEngine server) throws SSLException, GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new Credulous()}, null);
        SSLEngine client = context.createSSLEngine();
        client.setUseClientMode(true);
        client.setEnabledProtocols(server.getEnabledProtocols());
        client.setEnabledCipherSuites(client.getSupportedCipherSuites());
        server.setUseClientMode(false);
        server.setNeedClientAuth(false); // the client has no certificate, and is not on trial
        try {
            client.beginHandshake();
            server.beginHandshake();
            shakeHands(client, server);
        } catch (SSLException e) {
            throw new SSLException("every handshake would fail: " + e.getMessage());
        }
    }

    private static void shakeHands(SSLEngine client, SSLEngine server) throws SSLException {
        ByteBuffer nothing = ByteBuffer.allocate(0);
        ByteBuffer toServer = ByteBuffer.allocate(2 * client.getSession().getPacketBufferSize());
        ByteBuffer toClient = ByteBuffer.allocate(2 * server.getSession().getPacketBufferSize());
        for (int round = 0; isUnfinished(client) || isUnfinished(server); round++) {
            if (round == MOST_ROUNDS) {
                throw new SSLException("it does not end");
            }
            client.wrap(nothing, toServer);
            server.wrap(nothing, toClient);
            runTasks(client);
            runTasks(server);
            receive(server, toServer);
            receive(client, toClient);
            runTasks(client);
            runTasks(server);
        }
    }

    private static boolean isUnfinished(SSLEngine engine) {
        return engine.getHandshakeStatus() != HandshakeStatus.NOT_HANDSHAKING;
    }

    private static void runTasks(SSLEngine engine) {
        for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
            task.run();
        }
    }

    private static void receive(SSLEngine engine, ByteBuffer in) throws SSLException {
        in.flip();
        engine.unwrap(in, ByteBuffer.allocate(engine.getSession().getApplicationBufferSize()));
        in.compact();
    }

    /** Trusts everybody: whether a certificate is good is for real clients to say. */
    private static final class Credulous extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String authType) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
