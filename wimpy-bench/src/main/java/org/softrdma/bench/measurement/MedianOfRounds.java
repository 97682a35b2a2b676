package org.softrdma.bench.measurement;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The values that several interleaved rounds gave, by name, and their medians. Not thread-safe. */
public final class MedianOfRounds {
    /** Part of the median by which rounds may differ. */
    private static final double NOISY = 0.25;
    /** One round of so many may be far from the others. */
    private static final int LEFT_OUT = 4;

    private final Map<String, List<Double>> values = new LinkedHashMap<>();

    /** No values yet. */
    public MedianOfRounds() {}

    /**
     * Adds what a round gave.
     *
     * @param name what was measured
     * @param value what it was
     */
    public void add(String name, double value) {
        values.computeIfAbsent(name, key -> new ArrayList<>()).add(value);
    }

    /**
     * The values of all rounds in their order.
     *
     * @param name what was measured
     */
    public List<Double> values(String name) {
        return List.copyOf(values.getOrDefault(name, List.of()));
    }

    /** All values by name. */
    public Map<String, List<Double>> all() {
        Map<String, List<Double>> copy = new LinkedHashMap<>();
        values.forEach((name, list) -> copy.put(name, List.copyOf(list)));
        return copy;
    }

    /**
     * The median over the rounds; NaN without any.
     *
     * @param name what was measured
     */
    public double median(String name) {
        return median(values(name));
    }

    /**
     * How far apart rounds are.
     *
     * @param least of the values
     * @param most of the values
     */
    public record Spread(double least, double most) {}

    /**
     * The least and the most over the rounds; empty if nothing was measured.
     *
     * @param name what was measured
     */
    public Optional<Spread> spread(String name) {
        return spread(values(name));
    }

    /**
     * The least and the most of some values; empty if none of them is a number.
     *
     * @param values of the rounds
     */
    public static Optional<Spread> spread(List<Double> values) {
        List<Double> sorted = values.stream().filter(Double::isFinite).sorted().toList();
        return sorted.isEmpty() ? Optional.empty() : Optional.of(new Spread(sorted.getFirst(), sorted.getLast()));
    }

    /**
     * True if rounds lie so far apart that their median says nothing: if, without the quarter that is farthest from it, they
     * differ by more than a quarter of it.
     *
     * @param name what was measured
     * @param detail a difference that does not matter
     */
    public boolean isNoisy(String name, double detail) {
        return isNoisy(values(name), detail);
    }

    /**
     * The same of some values.
     *
     * @param values of the rounds
     * @param detail a difference that does not matter
     */
    public static boolean isNoisy(List<Double> values, double detail) {
        List<Double> numbers = values.stream().filter(Double::isFinite).toList();
        double median = median(numbers);
        List<Double> near = numbers.stream()
                .sorted(Comparator.comparingDouble(value -> Math.abs(value - median)))
                .limit(numbers.size() - numbers.size() / LEFT_OUT)
                .toList();
        return spread(near)
                .map(spread -> spread.most - spread.least)
                .filter(range -> range > detail && range > NOISY * Math.abs(median))
                .isPresent();
    }

    /** All medians by name, but those that are no numbers. */
    public Map<String, Double> medians() {
        Map<String, Double> medians = new LinkedHashMap<>();
        values.keySet().forEach(name -> put(medians, name, median(name)));
        return medians;
    }

    /** The values of each round by name, but those that are no numbers. */
    public List<Map<String, Double>> perRound() {
        List<Map<String, Double>> rounds = new ArrayList<>();
        values.forEach((name, list) -> {
            for (int i = 0; i < list.size(); i++) {
                if (i == rounds.size()) {
                    rounds.add(new LinkedHashMap<>());
                }
                put(rounds.get(i), name, list.get(i));
            }
        });
        return rounds;
    }

    private static void put(Map<String, Double> map, String name, double value) {
        if (Double.isFinite(value)) {
            map.put(name, value);
        }
    }

    /**
     * The median of the ratios within each round, which is steadier than the ratio of the medians when the machine changes
     * its pace between rounds; NaN without any.
     *
     * @param numerator what was measured
     * @param denominator what it is compared with
     */
    public double medianRatio(String numerator, String denominator) {
        return median(ratios(numerator, denominator));
    }

    /**
     * The ratios within each round.
     *
     * @param numerator what was measured
     * @param denominator what it is compared with
     */
    public List<Double> ratios(String numerator, String denominator) {
        return ratios(values(numerator), values(denominator));
    }

    /**
     * The median of the ratios to what others gave within the same rounds.
     *
     * @param name what was measured of both
     * @param others what it is compared with
     */
    public double medianRatio(String name, MedianOfRounds others) {
        return median(ratios(name, others));
    }

    /**
     * The ratios to what others gave within the same rounds.
     *
     * @param name what was measured of both
     * @param others what it is compared with
     */
    public List<Double> ratios(String name, MedianOfRounds others) {
        return ratios(values(name), others.values(name));
    }

    private static List<Double> ratios(List<Double> above, List<Double> below) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < Math.min(above.size(), below.size()); i++) {
            ratios.add(above.get(i) / below.get(i));
        }
        return ratios;
    }

    private static double median(List<Double> unsorted) {
        if (unsorted.isEmpty()) {
            return Double.NaN;
        }
        List<Double> sorted = unsorted.stream().sorted().toList();
        int middle = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(middle) : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
    }
}
