package org.softrdma.bench.study;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.samskivert.mustache.Mustache;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/**
 * A study's page for people, one file that needs nothing else: the frame {@code page.html} around the study's own template, its
 * figures, and Apache ECharts, which draws them.
 */
public final class ReportPage {
    /** The name of the file. */
    static final String FILE = "report.html";

    private static final String FRAME = "page.html";
    private static final String LIBRARY = "echarts.common.min.js";

    private ReportPage() {}

    /**
     * Writes the file.
     *
     * @param directory made when needed
     * @param title of the window
     * @param template what the study says: the name of a Mustache template
     * @param content of the template
     * @param figures ECharts' options by the id of the element that each is drawn in
     * @return where it is
     */
    public static Path write(
            Path directory, String title, String template, Map<String, Object> content, ObjectNode figures)
            throws IOException {
        String page = fill(
                FRAME,
                Map.of(
                        "title",
                        title,
                        "body",
                        fill(template, content),
                        // Nothing in a script element may look like its end.
                        "options",
                        new ObjectMapper().writeValueAsString(figures).replace("<", "\\u003c"),
                        "library",
                        resource(LIBRARY)));
        Files.createDirectories(directory);
        return Files.writeString(directory.resolve(FILE), page);
    }

    private static String fill(String template, Map<String, Object> content) throws IOException {
        return Mustache.compiler().compile(resource(template)).execute(content);
    }

    private static String resource(String name) throws IOException {
        try (InputStream in = ReportPage.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new IOException("the program was built without " + name + ": build it again with Maven");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
