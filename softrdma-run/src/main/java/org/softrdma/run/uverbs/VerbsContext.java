package org.softrdma.run.uverbs;

import java.util.HashMap;
import java.util.Map;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.run.rxe.RingMemory;

/** A context that a program has opened, and its objects by their handles. */
final class VerbsContext {
    private static final int NO_EVENTS = -1;

    private final ProgramKernel kernel;
    private final RingMemory memory;
    private final Map<Integer, VerbsObject> objects = new HashMap<>();
    private int lastHandle;
    private int events = NO_EVENTS;

    VerbsContext(ProgramKernel kernel, RingMemory memory) {
        this.kernel = kernel;
        this.memory = memory;
    }

    RingMemory memory() {
        return memory;
    }

    /** Whether the program has the pipe of asynchronous events. */
    boolean hasEvents() {
        return events != NO_EVENTS;
    }

    void setEvents(int writingEnd) {
        events = writingEnd;
    }

    /** Whether nobody has the context any more. */
    boolean isAbandoned() {
        return hasEvents() && kernel.isAbandoned(events);
    }

    /** A handle for a new object. */
    int add(VerbsObject object) {
        objects.put(++lastHandle, object);
        return lastHandle;
    }

    /** The object of a handle. */
    <T extends VerbsObject> T get(int handle, Class<T> type) throws CallRefusedException {
        VerbsObject object = objects.get(handle);
        if (!type.isInstance(object)) {
            throw new CallRefusedException(ErrorNumber.EINVAL);
        }
        return type.cast(object);
    }

    /**
     * Takes an object away.
     *
     * @throws CallRefusedException if others still use it
     */
    <T extends VerbsObject> T remove(int handle, Class<T> type) throws CallRefusedException {
        T object = get(handle, type);
        if (objects.values().stream().anyMatch(other -> uses(other, object))) {
            throw new CallRefusedException(ErrorNumber.EBUSY);
        }
        objects.remove(handle);
        return object;
    }

    private static boolean uses(VerbsObject user, VerbsObject used) {
        return switch (user) {
            case VerbsObject.Region region -> region.domain() == used;
            case VerbsObject.SharedReceives shared -> shared.domain() == used;
            case VerbsObject.Pair pair ->
                pair.domain() == used
                        || pair.sendCompletions() == used
                        || pair.receiveCompletions() == used
                        || pair.shared().filter(each -> each == used).isPresent();
            case VerbsObject.Domain ignored -> false;
            case VerbsObject.Channel ignored -> false;
            case VerbsObject.Completions ignored -> false;
        };
    }

    /** Gives back what this process has of it. */
    void close() {
        if (hasEvents()) {
            kernel.close(events);
        }
        for (VerbsObject each : objects.values()) {
            if (each instanceof VerbsObject.Channel channel) {
                kernel.close(channel.writingEnd());
            }
        }
        memory.close();
    }
}
