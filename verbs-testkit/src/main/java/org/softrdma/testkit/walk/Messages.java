package org.softrdma.testkit.walk;

import java.util.List;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Fault;

/**
 * Messages and RECVs find each other: by their numbers, or any message any RECV of a shared queue. Sees what may or must
 * come of that. The walk's thread.
 */
final class Messages {
    private Messages() {}

    /** True if a RECV is there, for certain, that the next message of an end fits. */
    static boolean fit(WalkEnd sender, int length) {
        WalkSharedQueue shared = sender.peer().shared();
        if (shared != null) {
            return shared.fits(length);
        }
        List<WalkRequest> receives = sender.peer().allReceives();
        int index = sender.messages().size();
        return index < receives.size() && length <= receives.get(index).length();
    }

    /** An end has posted a message. */
    static void sent(WalkEnd sender) {
        WalkSharedQueue shared = sender.peer().shared();
        if (shared == null) {
            match(sender, sender.messages().size() - 1);
        } else {
            shared.changed();
        }
    }

    /** An end has posted a RECV to its own queue. */
    static void posted(WalkEnd receiver) {
        match(receiver.peer(), receiver.allReceives().size() - 1);
    }

    private static void match(WalkEnd sender, int index) {
        List<WalkRequest> receives = sender.peer().allReceives();
        if (index >= sender.messages().size()) {
            return;
        }
        WalkRequest message = sender.messages().get(index);
        @Nullable WalkRequest receive = index < receives.size() ? receives.get(index) : null;
        if (receive == null) {
            sender.connection().mayEnd(message + " without a RECV");
        } else if (!message.isOneSided()
                && (message.length() > receive.length() || (receive.fault() != Fault.NONE && message.length() > 0))) {
            sender.connection().mustEnd(message + " into " + receive);
        } else if (receive.isVulnerable() || receive.fault() != Fault.NONE) {
            sender.connection().mayEnd(message + " into " + receive);
        }
    }
}
