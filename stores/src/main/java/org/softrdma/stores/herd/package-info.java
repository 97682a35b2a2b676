/**
 * HERD (Kalia, Kaminsky, Andersen: Using RDMA Efficiently for Key-Value Services, SIGCOMM 2014): a request is one WRITE
 * into a slot that the server polls, an answer is one SEND. docs/design/herd.md tells what the paper says and what is
 * different here.
 *
 * <p><b>The way of a request.</b> Each client has slots in a region of its own at the server, {@code window} of them for
 * each worker. A worker owns the keys of one part of the hash, with an index and a log that nobody else touches. The
 * client chooses the worker by the key, takes a free slot of it, and WRITEs the request so that it ends where the slot
 * ends: the last word tells the server that it is there. The worker copies it, believes the copy if its checksum fits,
 * executes it, remembers its number and its answer, and sends the answer.
 *
 * <p><b>At most once.</b> Requests of a slot are numbered. Who has no answer in time, or has lost the connection, WRITEs
 * the same number again, as another attempt. The server executes a number once: a repeated change gets the answer that is
 * remembered, a repeated GET looks again. An answer tells the number and the attempt, so the client knows which of its
 * WRITEs will bring no answer any more, and whether there is a RECV for each that may.
 *
 * <p><b>Packages.</b> {@code mica} is index and log. {@code wire} is the bytes: two forms of requests, as published and
 * mended. {@code transport} carries them: {@code HerdChannel} at the client, {@code HerdPort} and {@code HerdPeer} at the
 * server, over a reliable connection ({@code Rc}) or as published, over an unreliable connection and datagrams
 * ({@code Uc}, {@code Ud}).
 *
 * <p>A server, each of its workers, and a client belong to one thread each; workers may take turns on the server's. {@code
 * HerdRoster} is what a server and its workers share: a worker forgets a former client before anything of it is freed. Read {@code
 * HerdWorker} first, then {@code HerdClient}.
 */
@NullMarked
package org.softrdma.stores.herd;

import org.jspecify.annotations.NullMarked;
