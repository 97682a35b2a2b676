package org.softrdma.stores;

import java.util.Map;
import java.util.Set;
import org.softrdma.verbs.Feature;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * A store as a paper describes it: makes its servers and clients. Found by {@link java.util.ServiceLoader}; {@link
 * StoreDesigns} looks one up by its name. Stateless.
 */
public interface StoreDesign {
    /** Its name, for example {@code pilaf}. */
    String name();

    /** The paper, for people. */
    String paper();

    /**
     * What a device must have to run it. Where it does not, {@link #serve} and {@link #connect} refuse.
     *
     * @param protocol which form
     */
    default Set<Feature> needs(Protocol protocol) {
        return Set.of();
    }

    /**
     * Refuses a device that lacks what it needs.
     *
     * @param device of a server or a client
     * @param protocol which form
     * @throws StoreException if it does
     */
    default void requireFeatures(VerbsDevice device, Protocol protocol) {
        for (Feature feature : needs(protocol)) {
            if (!device.capabilities().has(feature)) {
                throw new StoreException(
                        device.name() + " has no " + feature + ", which " + name() + " in form " + protocol + " needs");
            }
        }
    }

    /**
     * What it promises.
     *
     * @param protocol which form
     */
    Promises promises(Protocol protocol);

    /**
     * Bytes of the longest value that it can have on a device, whatever its settings are. {@link #serve} and {@link #connect}
     * refuse longer ones.
     *
     * @param device of a server or a client
     * @param protocol which form
     */
    default int longestValue(VerbsDevice device, Protocol protocol) {
        return Integer.MAX_VALUE;
    }

    /** Options of its servers, each with a sentence that names the default. */
    Map<String, String> serverOptions();

    /** Options of its clients, each with a sentence that names the default. */
    default Map<String, String> clientOptions() {
        return Map.of();
    }

    /**
     * Makes a server, which listens from now on.
     *
     * @param device on which it is; stays open until the server is closed
     * @param context concluded
     * @throws StoreException if it cannot be made; then nothing remains
     * @throws IllegalArgumentException for an unknown or wrong option
     */
    StoreServer serve(VerbsDevice device, StoreServerContext context);

    /**
     * Makes a client, and connects it.
     *
     * @param device of the client; stays open until the client is closed
     * @param context concluded
     * @throws StoreException if it cannot connect in time; then nothing remains
     * @throws IllegalArgumentException for an unknown or wrong option
     */
    StoreClient connect(VerbsDevice device, StoreClientContext context);
}
