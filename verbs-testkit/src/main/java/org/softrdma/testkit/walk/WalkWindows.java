package org.softrdma.testkit.walk;

import java.util.List;
import org.softrdma.verbs.Feature;

/** Allocates windows and closes them. The walk's thread. */
final class WalkWindows {
    private static final int MOST = 4;
    private static final int UNDER_REQUESTS = 40;

    private final WalkState state;

    WalkWindows(WalkState state) {
        this.state = state;
    }

    boolean allocate(WalkNode node) {
        if (!state.uses(node, Feature.MEMORY_WINDOWS) || node.windows().size() >= MOST) {
            return false;
        }
        // Most often where a queue pair can bind it.
        WalkDomain domain = state.any(node.ends())
                .filter(end -> state.percent(80))
                .map(WalkEnd::domain)
                .orElseGet(() -> state.any(node.domains()).orElseThrow());
        state.note("allocate a window of " + node);
        WalkWindow window = new WalkWindow(domain.verbs().allocateWindow(), domain);
        if (window.verbs().rkey() != 0) {
            throw new WalkFailure("a window that was never bound has a key: " + window.verbs());
        }
        return domain.windows().add(window);
    }

    /** Closes a window, also a bound one, and unless the walk is lawful also under requests. */
    boolean close(WalkNode node) {
        WalkWindow window = state.any(node.windows()).orElse(null);
        if (window == null) {
            return false;
        }
        List<WalkBinding> open =
                window.bindings().stream().filter(each -> !each.isGone()).toList();
        if (open.stream().anyMatch(WalkBinding::isContested)) {
            return false;
        }
        if (state.environment().reusesKeys()
                && window.bindings().stream()
                        .anyMatch(each -> !Bindings.users(each).isEmpty())) {
            return false;
        }
        boolean used = open.stream()
                .anyMatch(each -> !each.isBound() || !Bindings.users(each).isEmpty());
        if (used && !state.breaks(UNDER_REQUESTS)) {
            return false;
        }
        state.note("close a window of " + node + " with " + open);
        for (WalkBinding binding : open) {
            Bindings.expose(Bindings.users(binding), binding, "the close");
            Bindings.expose(Bindings.underWay(binding), binding, "the close");
        }
        window.domain().windows().remove(window);
        window.verbs().close();
        open.forEach(Bindings::gone);
        return true;
    }
}
