package org.softrdma.testkit.walk;

import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;

/** Chooses what to bind and which key to take back: lawful, or so that verbs must refuse it. The walk's thread. */
final class BindChooser {
    private final WalkState state;

    BindChooser(WalkState state) {
        this.state = state;
    }

    // ---- binds

    /** A bind that must succeed; null if there is none now. */
    @Nullable
    WalkBinding lawful(WalkEnd end) {
        WalkWindow window = any(end.domain().windows(), each -> each.hasNewKeys() && each.isFreeFor(end));
        WalkRegion region = any(end.domain().regions(), BindChooser::isBindable);
        return window == null || region == null
                ? null
                : new WalkBinding(window, end, within(region), access(end.node(), isWritable(region)));
    }

    /** A bind that must fail; null if there is none now. */
    @Nullable
    WalkBinding faulty(WalkEnd end) {
        WalkDomain domain = end.domain();
        WalkNode node = end.node();
        Set<AccessFlag> read = EnumSet.of(AccessFlag.REMOTE_READ);
        WalkWindow window = any(domain.windows(), WalkWindow::hasNewKeys);
        return switch (state.below(6)) {
            case 0 -> bind(window, end, whole(any(domain.regions(), each -> !isBindable(each))), read);
            case 1 -> bind(window, end, beyond(any(domain.regions(), BindChooser::isBindable)), read);
            case 2 -> bind(window, end, nothing(any(domain.regions(), BindChooser::isBindable)), read);
            case 3 ->
                bind(
                        window,
                        end,
                        whole(any(domain.regions(), each -> isBindable(each) && !isWritable(each))),
                        EnumSet.of(AccessFlag.REMOTE_WRITE));
            case 4 ->
                bind(
                        window,
                        end,
                        whole(any(node.regions(), each -> isBindable(each) && each.domain() != domain)),
                        read);
            default ->
                bind(
                        any(node.windows(), each -> each.hasNewKeys() && isTaken(each, end)),
                        end,
                        whole(any(domain.regions(), BindChooser::isBindable)),
                        read);
        };
    }

    private static @Nullable WalkBinding bind(
            @Nullable WalkWindow window, WalkEnd end, @Nullable Part part, Set<AccessFlag> access) {
        return window == null || part == null ? null : new WalkBinding(window, end, part, access);
    }

    /** It cannot be bound here, whatever happens before: its peer cannot take it back meanwhile. */
    private static boolean isTaken(WalkWindow window, WalkEnd end) {
        return window.domain() != end.domain()
                || window.bindings().stream().anyMatch(each -> each.isBound() && each.end() == end);
    }

    private static boolean isBindable(WalkRegion region) {
        return region.access().contains(AccessFlag.BIND_WINDOWS);
    }

    private static boolean isWritable(WalkRegion region) {
        return region.access().contains(AccessFlag.LOCAL_WRITE);
    }

    /** Some rights, at least one. */
    private Set<AccessFlag> access(WalkNode node, boolean writable) {
        Set<AccessFlag> access = EnumSet.noneOf(AccessFlag.class);
        if (writable && state.percent(60)) {
            access.add(AccessFlag.REMOTE_WRITE);
        }
        if (writable && state.uses(node, Feature.ATOMICS) && state.percent(40)) {
            access.add(AccessFlag.REMOTE_ATOMIC);
        }
        if (access.isEmpty() || state.percent(60)) {
            access.add(AccessFlag.REMOTE_READ);
        }
        return access;
    }

    private Part within(WalkRegion region) {
        int offset = state.percent(40) ? 0 : state.below(region.length());
        int rest = region.length() - offset;
        return new Part(region, offset, state.percent(40) ? rest : state.between(1, rest));
    }

    private static @Nullable Part whole(@Nullable WalkRegion region) {
        return region == null ? null : new Part(region, 0, region.length());
    }

    private @Nullable Part beyond(@Nullable WalkRegion region) {
        if (region == null) {
            return null;
        }
        int length = state.between(1, region.length());
        return new Part(region, state.between(region.length() - length + 1, region.length()), length);
    }

    private @Nullable Part nothing(@Nullable WalkRegion region) {
        return region == null ? null : new Part(region, state.below(region.length()), 0);
    }

    private <T> @Nullable T any(List<T> all, Predicate<T> chosen) {
        return state.any(all.stream().filter(chosen).toList()).orElse(null);
    }

    // ---- keys

    /**
     * A key of a node that no request of a queue pair there, or of its peer, can take back; null if there is none now,
     * and where keys come again soon: before the request is done, it may be that of a window there.
     */
    @Nullable
    Integer wrongKey(WalkNode node, WalkEnd end) {
        if (state.environment().reusesKeys()) {
            return null;
        }
        List<Integer> keys = new ArrayList<>();
        node.regions().forEach(region -> keys.add(region.key()));
        Bindings.open(node).stream()
                .filter(binding -> binding.end() != end)
                .forEach(binding -> keys.add(binding.key()));
        Bindings.gone(node).forEach(binding -> keys.add(binding.key()));
        return state.any(keys).orElse(null);
    }
}
