package org.softrdma.sim.transport;

/**
 * Options of every connection.
 *
 * @param sendBuffer bytes of SO_SNDBUF, 0 leaves it to the kernel
 * @param receiveBuffer bytes of SO_RCVBUF, 0 leaves it to the kernel
 */
public record SocketOptions(int sendBuffer, int receiveBuffer) {}
