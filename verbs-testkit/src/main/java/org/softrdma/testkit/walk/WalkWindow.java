package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.List;
import org.softrdma.verbs.MemoryWindow;

/** A memory window and its binds. The walk's thread. */
final class WalkWindow {
    /** A key has 8 bits of a bind's number. */
    private static final int MOST_BINDS = 200;

    private final MemoryWindow window;
    private final WalkDomain domain;
    private final List<WalkBinding> bindings = new ArrayList<>();
    private int binds;

    WalkWindow(MemoryWindow window, WalkDomain domain) {
        this.window = window;
        this.domain = domain;
    }

    MemoryWindow verbs() {
        return window;
    }

    WalkDomain domain() {
        return domain;
    }

    /** A bind was accepted; one that must fail is not kept. */
    void posted(WalkBinding binding, boolean lawful) {
        binds++;
        if (lawful) {
            bindings.add(binding);
        }
    }

    /** True while none of its keys can come again. */
    boolean hasNewKeys() {
        return binds < MOST_BINDS;
    }

    /** Every bind that was not to be refused, oldest first. */
    List<WalkBinding> bindings() {
        return bindings;
    }

    /** True if a request that is posted now on this queue pair finds it free. */
    boolean isFreeFor(WalkEnd end) {
        return bindings.stream().allMatch(binding -> binding.isGoneInOrder(end));
    }
}
