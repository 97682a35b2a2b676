package org.softrdma.kv.server.session;

import java.util.BitSet;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * The slab classes that a client names: {@code all}, {@code hash}, which means all in another order, or numbers from 1
 * to 63 with commas in between. Immutable.
 */
final class ClassList {
    private static final int MOST = 63;
    private static final Pattern NUMBERS =
            Pattern.compile(",*([1-9]|[1-5][0-9]|6[0-3])(,+([1-9]|[1-5][0-9]|6[0-3]))*,*");

    private final BitSet classes;

    private ClassList(BitSet classes) {
        this.classes = classes;
    }

    /** The list that a word is, or nothing if it names what is no class. */
    static Optional<ClassList> of(String word) {
        BitSet named = new BitSet();
        if (word.equals("all") || word.equals("hash")) {
            named.set(0, MOST);
            return Optional.of(new ClassList(named));
        }
        if (!NUMBERS.matcher(word).matches()) {
            return Optional.empty();
        }
        for (String number : word.split(",", -1)) {
            if (!number.isEmpty()) {
                named.set(Integer.parseInt(number) - 1);
            }
        }
        return Optional.of(new ClassList(named));
    }

    /**
     * True if it has a class.
     *
     * @param sizeClass 0 for the first
     */
    boolean has(int sizeClass) {
        return classes.get(sizeClass);
    }
}
