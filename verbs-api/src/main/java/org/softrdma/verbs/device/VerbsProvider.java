package org.softrdma.verbs.device;

import java.util.Map;
import org.softrdma.verbs.VerbsException;

/**
 * Opens verbs devices of one kind: of a software RNIC, rdma-core or DiSNI. {@link VerbsProviders} finds it by its name.
 *
 * <p>Only {@code main} should choose a provider; all other code receives a {@link VerbsDevice}.
 */
public interface VerbsProvider {
    /** Short lower-case name, as given to {@code --provider}: {@code sim}, {@code rdmacore}, {@code disni}. */
    String name();

    /** Says whether a device can be opened on this machine and, if not, why and what to do. Never throws. */
    Usability usability();

    /**
     * The options that {@link #open} takes: each name with one line of help that includes the default.
     *
     * @return an unmodifiable map, in the order in which help should list them
     */
    Map<String, String> options();

    /**
     * Opens a device.
     *
     * @param options provider-specific settings by name, see {@link #options()}; empty for the defaults
     * @return a device that the caller closes
     * @throws IllegalArgumentException if an option is unknown or out of range; the message names every such option
     * @throws VerbsException with the reason of {@link #usability()} if there is no usable device
     */
    VerbsDevice open(Map<String, String> options);

    /**
     * Whether a provider can be used here.
     *
     * @param usable true if {@link VerbsProvider#open} can work
     * @param reason what was found: the device, or what is missing (module, device, ulimit, library, flag)
     * @param remedy what to do about it; empty if usable
     */
    record Usability(boolean usable, String reason, String remedy) {
        /**
         * A provider that can be used.
         *
         * @param what what was found
         */
        public static Usability usable(String what) {
            return new Usability(true, what, "");
        }

        /**
         * A provider that cannot be used.
         *
         * @param reason what is missing
         * @param remedy what the user can do
         */
        public static Usability unusable(String reason, String remedy) {
            return new Usability(false, reason, remedy);
        }
    }
}
