package org.softrdma.sanitiser;

import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.softrdma.sanitiser.finding.Finding;
import org.softrdma.sanitiser.finding.FindingException;
import org.softrdma.sanitiser.finding.FindingLog;
import org.softrdma.sanitiser.finding.Rule;
import org.softrdma.verbs.device.VerbsDevice;
import org.softrdma.verbs.device.VerbsProvider;

/**
 * A provider whose devices are sanitised. It has two more options: what to do about a finding, and which rules to
 * watch. Devices that one such provider opens with the same values of both share a sanitiser, and so know each other's
 * queue pairs.
 */
final class SanitisedProvider implements VerbsProvider {
    private static final String ACTION = "sanitiser";
    private static final String RULES = "sanitiser-rules";
    private static final String LOG = "log";
    private static final String THROW = "throw";
    private static final String ALL = "all";

    private final String prefix;
    private final VerbsProvider provider;
    private final Map<Map<String, String>, Sanitiser> sanitisers = new ConcurrentHashMap<>();

    SanitisedProvider(String prefix, VerbsProvider provider) {
        this.prefix = prefix;
        this.provider = provider;
    }

    @Override
    public String name() {
        return prefix + ":" + provider.name();
    }

    @Override
    public Usability usability() {
        return provider.usability();
    }

    @Override
    public Map<String, String> options() {
        Map<String, String> all = new LinkedHashMap<>(provider.options());
        all.put(ACTION, "what to do about a broken rule of verbs: " + LOG + " (default) or " + THROW);
        all.put(RULES, "the rules to watch, separated by commas; default " + ALL);
        return Collections.unmodifiableMap(all);
    }

    @Override
    public VerbsDevice open(Map<String, String> options) {
        Map<String, String> ofProvider = new LinkedHashMap<>(options);
        String action = valueOr(ofProvider.remove(ACTION), LOG);
        String rules = valueOr(ofProvider.remove(RULES), ALL);
        Sanitiser sanitiser = sanitiser(action, rules);
        return sanitiser.wrap(provider.open(ofProvider));
    }

    private static String valueOr(@Nullable String value, String other) {
        return value == null ? other : value;
    }

    private Sanitiser sanitiser(String action, String rules) {
        Map<String, String> key = Map.of(ACTION, action, RULES, rules);
        return sanitisers.computeIfAbsent(key, _ -> new Sanitiser(rules(rules), taker(action)));
    }

    private static Consumer<Finding> taker(String action) {
        return switch (action) {
            case LOG -> new FindingLog();
            case THROW -> FindingException.RAISE;
            default -> throw new IllegalArgumentException(ACTION + "=" + action + ": expected " + LOG + " or " + THROW);
        };
    }

    private static Set<Rule> rules(String names) {
        if (names.equals(ALL)) {
            return EnumSet.allOf(Rule.class);
        }
        Set<Rule> rules = EnumSet.noneOf(Rule.class);
        for (String name : names.split(",", -1)) {
            rules.add(Arrays.stream(Rule.values())
                    .filter(rule -> rule.name().equals(name.trim()))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(RULES + "=" + names + ": no rule " + name
                            + "; expected " + ALL + " or some of "
                            + Arrays.stream(Rule.values()).map(Rule::name).collect(Collectors.joining(",")))));
        }
        return rules;
    }
}
