package org.softrdma.cli.arrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * {@code ci/house}: prints the figures of a checkout, or draws the picture and the figures anew into {@code
 * docs/design/house.md}. Runs from its source with the JDK alone.
 */
final class House {
    /** The page that has the picture. */
    static final Path PAGE = Path.of("docs", "design", "house.md");

    private static final String DRAW = "--draw";

    private House() {}

    /**
     * Runs.
     *
     * @param arguments the checkout, and {@code --draw}
     */
    public static void main(String[] arguments) throws IOException {
        Path checkout = Path.of(arguments[0]);
        SourceGraph graph = SourceGraph.ofCheckout(checkout);
        String figures = new HouseFigures(graph).table();
        System.out.print(figures);
        if (arguments.length > 1 && arguments[1].equals(DRAW)) {
            Path page = checkout.resolve(PAGE);
            String drawn = replace(Files.readString(page), "picture", new HousePicture(graph).text());
            Files.writeString(page, replace(drawn, "figures", figures));
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

    /**
     * A part of the page.
     *
     * @param page all of it
     * @param part its name
     */
    static String part(String page, String part) {
        return page.substring(begin(page, part), end(page, part)).strip() + "\n";
    }

    private static String replace(String page, String part, String text) {
        return page.substring(0, begin(page, part)) + "\n" + text + "\n" + page.substring(end(page, part));
    }

    private static int begin(String page, String part) {
        String mark = "<!-- " + part + ": drawn by ci/house --draw -->\n";
        int at = page.indexOf(mark);
        if (at < 0) {
            throw new IllegalStateException(PAGE + " has no line " + mark);
        }
        return at + mark.length();
    }

    private static int end(String page, String part) {
        int at = page.indexOf("<!-- end of " + part + " -->");
        if (at < 0) {
            throw new IllegalStateException(PAGE + " has no end of " + part);
        }
        return at;
    }
}
