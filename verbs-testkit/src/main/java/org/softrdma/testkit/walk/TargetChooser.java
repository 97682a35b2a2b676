package org.softrdma.testkit.walk;

import java.util.List;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.softrdma.testkit.walk.WalkRequest.Part;
import org.softrdma.verbs.AccessFlag;
import org.softrdma.verbs.Feature;

/** Chooses memory of the peer, by the key of a region or of a window: lawful, or to be refused. The walk's thread. */
final class TargetChooser {
    private static final int BY_WINDOW = 60;

    private final WalkState state;
    private final PartChooser parts;

    TargetChooser(WalkState state) {
        this.state = state;
        parts = new PartChooser(state);
    }

    /**
     * Memory and the key that names it.
     *
     * @param part of a region
     * @param binding whose key names it; null for that of the region
     */
    record Target(Part part, @Nullable WalkBinding binding) {}

    /** Memory of the peer for a READ or WRITE; null if there is none now. */
    @Nullable
    Target choose(WalkEnd end, int length, AccessFlag right, boolean faulty) {
        if (goesByWindow(end)) {
            Target target = faulty ? refused(end, length, right) : open(end, length, right);
            if (target != null) {
                return counted(target, faulty);
            }
        }
        return ofRegion(
                faulty ? parts.faultyRemote(end.peer(), length, right) : parts.remote(end.peer(), length, right));
    }

    /** A word of the peer for an atomic; null if there is none now. */
    @Nullable
    Target word(WalkEnd end, boolean faulty) {
        if (goesByWindow(end)) {
            AccessFlag right = AccessFlag.REMOTE_ATOMIC;
            Target any = faulty ? refused(end, Long.BYTES, right) : open(end, Long.BYTES, right);
            Target word = any == null || faulty ? any : alignedDown(any);
            if (word != null && PartChooser.isAligned(word.part())) {
                return counted(word, faulty);
            }
        }
        return ofRegion(faulty ? parts.faultyWord(end.peer()) : parts.word(end.peer()));
    }

    /** The same as far as it is aligned within its window. */
    private static Target alignedDown(Target target) {
        Part part = target.part();
        WalkBinding binding = target.binding();
        int offset = part.offset() - PartChooser.misalignment(part);
        return binding == null || offset < binding.part().offset()
                ? target
                : new Target(new Part(part.region(), offset, part.length()), binding);
    }

    private boolean goesByWindow(WalkEnd end) {
        return state.uses(end.peer().node(), Feature.MEMORY_WINDOWS) && state.percent(BY_WINDOW);
    }

    private Target counted(Target target, boolean faulty) {
        state.count(faulty ? "refused by a window" : "through a window");
        return target;
    }

    private static @Nullable Target ofRegion(@Nullable Part part) {
        return part == null ? null : new Target(part, null);
    }

    private @Nullable Target open(WalkEnd end, int length, AccessFlag right) {
        return state.any(Bindings.open(end.peer().node()).stream()
                        .filter(WalkBinding::isBound)
                        .filter(binding ->
                                binding.allows(end, right) && binding.part().length() >= length)
                        .toList())
                .map(binding -> within(binding, state.between(0, binding.part().length() - length), length))
                .orElse(null);
    }

    private static Target within(WalkBinding binding, int offset, int length) {
        Part part = binding.part();
        return new Target(new Part(part.region(), part.offset() + offset, length), binding);
    }

    /** What is refused now stays so: a window that is bound again has another key. */
    private @Nullable Target refused(WalkEnd end, int length, AccessFlag right) {
        WalkNode node = end.peer().node();
        List<WalkBinding> open = Bindings.open(node);
        int kind = state.below(4);
        List<WalkBinding> wrong = switch (kind) {
            case 0 -> Bindings.gone(node);
            case 1 -> some(open, binding -> binding.end().peer() != end);
            case 2 -> some(open, binding -> binding.allows(end, right));
            default ->
                some(
                        open,
                        binding ->
                                binding.end().peer() == end && !binding.access().contains(right));
        };
        return state.any(wrong)
                .map(binding -> within(binding, kind == 2 ? outside(binding.part(), length) : 0, length))
                .orElse(null);
    }

    /** An offset from which so many bytes leave the part. */
    private int outside(Part part, int length) {
        return part.offset() > 0 && state.percent(40)
                ? -state.between(1, Math.min(part.offset(), length))
                : state.between(Math.max(0, part.length() - length + 1), part.length());
    }

    private static List<WalkBinding> some(List<WalkBinding> bindings, Predicate<WalkBinding> chosen) {
        return bindings.stream().filter(chosen).toList();
    }
}
