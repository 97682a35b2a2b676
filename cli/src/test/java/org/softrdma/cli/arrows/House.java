package org.softrdma.cli.arrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * {@code ci/house}: prints the figures of a checkout; {@code --packages} prints the charts of its packages, and {@code --draw}
 * draws the chart of the modules anew into {@code docs/design/house.md}. Runs from its source with the JDK alone.
 */
final class House {
    /** The page that has the picture. */
    static final Path PAGE = Path.of("docs", "design", "house.md");

    private static final String BEGIN = "<!-- modules: drawn by ci/house --draw -->\n";
    private static final String END = "<!-- end of modules -->";

    private House() {}

    /**
     * Runs.
     *
     * @param arguments the checkout, and at most one of the options
     */
    public static void main(String[] arguments) throws IOException {
        Path checkout = Path.of(arguments[0]);
        SourceGraph graph = SourceGraph.ofCheckout(checkout);
        switch (arguments.length > 1 ? arguments[1] : "") {
            case "--packages" -> System.out.print(new HousePicture(graph).packages());
            case "--draw" -> {
                Path page = checkout.resolve(PAGE);
                String text = Files.readString(page);
                Files.writeString(
                        page,
                        text.substring(0, begin(text)) + "\n" + new HousePicture(graph).modules() + "\n"
                                + text.substring(end(text)));
            }
            default -> System.out.print(new HouseFigures(graph).table());
        }
    }

    /** The directory with the modules, from anywhere below it. */
    static Path checkout() {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(at.resolve("verbs-api"))) {
            Path parent = at.getParent();
            if (parent == null) {
                throw new IllegalStateException(
                        "not below a checkout: " + Path.of("").toAbsolutePath());
            }
            at = parent;
        }
        return at;
    }

    /** The chart on the page. */
    static String drawn(String page) {
        return page.substring(begin(page), end(page)).strip() + "\n";
    }

    private static int begin(String page) {
        return find(page, BEGIN) + BEGIN.length();
    }

    private static int end(String page) {
        return find(page, END);
    }

    private static int find(String page, String mark) {
        int at = page.indexOf(mark);
        if (at < 0) {
            throw new IllegalStateException(PAGE + " has no line " + mark);
        }
        return at;
    }
}
