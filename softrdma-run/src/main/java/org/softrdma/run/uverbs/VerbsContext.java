package org.softrdma.run.uverbs;

import java.util.HashMap;
import java.util.Map;
import java.util.stream.Stream;
import org.softrdma.run.card.Card;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.ProgramKernel;
import org.softrdma.run.rxe.RingMemory;

/** A context that a program has opened, and its objects by their handles. */
final class VerbsContext {
    private final ProgramKernel kernel;
    private final RingMemory memory;
    private final Map<Integer, VerbsObject> objects = new HashMap<>();
    private int lastHandle;
    private final EventPipe events;
    /** Ends the watch over its pipe. */
    private Runnable watch = () -> {};

    private boolean watched;

    /**
     * Without objects.
     *
     * @param events the pipe of asynchronous events
     */
    VerbsContext(ProgramKernel kernel, RingMemory memory, EventPipe events) {
        this.kernel = kernel;
        this.memory = memory;
        this.events = events;
    }

    RingMemory memory() {
        return memory;
    }

    /** The pipe of asynchronous events. */
    EventPipe events() {
        return events;
    }

    /** Whether nobody has the context any more. */
    boolean isAbandoned() {
        return kernel.isAbandoned(events.writingEnd());
    }

    /** The card notices from now on when nobody has the context any more. */
    void watchedBy(Card card) throws CallRefusedException {
        if (!watched) {
            watch = card.watch(events.writingEnd());
            watched = true;
        }
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

    /** A handle has another object from now on. */
    void replace(int handle, VerbsObject object) {
        objects.put(handle, object);
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
            case VerbsObject.Address address -> address.domain() == used;
            case VerbsObject.Window window -> window.domain() == used;
            case VerbsObject.SharedReceives shared -> shared.domain() == used;
            case VerbsObject.Pair pair ->
                pair.domain() == used
                        || pair.sendCompletions() == used
                        || pair.receiveCompletions() == used
                        || pair.shared().filter(each -> each == used).isPresent();
            case VerbsObject.Completions completions ->
                completions.channel().filter(each -> each == used).isPresent();
            case VerbsObject.Domain ignored -> false;
            case VerbsObject.Channel ignored -> false;
        };
    }

    /** The channel whose descriptor has that number in the program. */
    VerbsObject.Channel channel(int number) throws CallRefusedException {
        return objects(VerbsObject.Channel.class)
                .filter(each -> each.pipe().number() == number
                        && !kernel.isAbandoned(each.pipe().writingEnd()))
                .findFirst()
                .orElseThrow(() -> new CallRefusedException(ErrorNumber.EINVAL));
    }

    /** Gives back channels that the program has closed. */
    void forgetChannels() {
        objects.values()
                .removeIf(object -> object instanceof VerbsObject.Channel channel
                        && kernel.isAbandoned(channel.pipe().writingEnd())
                        && objects.values().stream().noneMatch(other -> uses(other, channel))
                        && close(channel));
    }

    private boolean close(VerbsObject.Channel channel) {
        kernel.close(channel.pipe().writingEnd());
        return true;
    }

    /** All objects of a kind. */
    <T extends VerbsObject> Stream<T> objects(Class<T> type) {
        return objects.values().stream().filter(type::isInstance).map(type::cast);
    }

    /**
     * Gives back what this process has of it. The engine uses no ring any more before they are unmapped. If there is no memory for
     * that, it can be asked for again: a descriptor is forgotten as soon as it is closed, and that of the events is the last.
     */
    void close() {
        objects(VerbsObject.Pair.class).forEach(pair -> pair.card().close());
        objects(VerbsObject.SharedReceives.class).forEach(queue -> queue.card().close());
        objects(VerbsObject.Address.class).forEach(address -> address.card().close());
        objects(VerbsObject.Window.class).forEach(window -> window.card().close());
        objects(VerbsObject.Region.class).forEach(region -> region.card().close());
        objects(VerbsObject.Domain.class).forEach(domain -> domain.card().close());
        objects(VerbsObject.Completions.class).forEach(queue -> queue.card().close());
        objects.values().removeIf(object -> object instanceof VerbsObject.Channel channel && close(channel));
        objects.clear();
        watch.run();
        memory.close();
        kernel.close(events.writingEnd());
    }
}
