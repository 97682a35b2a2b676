package org.softrdma.sanitiser;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.softrdma.sanitiser.device.SanitisedDevice;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.FindingException;
import org.softrdma.sanitiser.finding.FindingLog;
import org.softrdma.sanitiser.finding.Findings;
import org.softrdma.sanitiser.finding.OpenObject;
import org.softrdma.sanitiser.finding.Reporter;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.sanitiser.watch.Watch;
import org.softrdma.verbs.device.VerbsDevice;

/**
 * Finds the rules of verbs that a program breaks, on the devices that it wraps.
 *
 * <p>Wrap every device that the program uses with the same sanitiser: it then knows both ends of a connection within
 * the process, and who may write to which memory. It costs a lock and some allocation per request and poll, and it
 * reads the buffers of SENDs, WRITEs and RECVs twice.
 *
 * <p>A finding goes to the consumer that you pass: {@link Findings} collects, {@link FindingLog} logs, {@link
 * FindingException#RAISE} throws. It is called on the thread that called the verbs method, with no lock held. Its
 * exceptions propagate from that method, which has already done its work: a request was posted, completions were
 * polled. Only two rules are checked before the provider gets a request: {@link Rule#USE_AFTER_DEREGISTRATION} and
 * {@link Rule#ARENA_CLOSED}. A request whose memory was freed is never posted, because the device would access freed
 * memory.
 *
 * <p>Thread-safe if the consumer is.
 */
public final class Sanitiser {
    private final Watch watch;

    /**
     * Watches all rules.
     *
     * @param taker takes findings
     */
    public Sanitiser(Consumer<Finding> taker) {
        this(EnumSet.allOf(Rule.class), taker);
    }

    /**
     * Watches some rules.
     *
     * @param rules which
     * @param taker takes findings
     */
    public Sanitiser(Set<Rule> rules, Consumer<Finding> taker) {
        watch = Watch.of(new Reporter(rules, taker));
    }

    /**
     * Watches some rules in an environment where something other than the JVM schedules threads, such as a simulation.
     *
     * @param rules which
     * @param taker takes findings
     * @param idle lets other threads run; called by a thread that would block otherwise
     */
    public Sanitiser(Set<Rule> rules, Consumer<Finding> taker, Runnable idle) {
        watch = Watch.of(new Reporter(rules, taker), idle);
    }

    /**
     * Wraps a device. Use the result in place of the device, and close it instead.
     *
     * @param device of any provider
     */
    public VerbsDevice wrap(VerbsDevice device) {
        return new SanitisedDevice(device, watch);
    }

    /**
     * Objects that are not closed yet, in the order of creation: the wrapped devices, and the objects that the program
     * has created on them, including memory.
     */
    public List<OpenObject> openObjects() {
        return watch.open().list();
    }
}
