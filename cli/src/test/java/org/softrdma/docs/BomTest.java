package org.softrdma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The BOM has the libraries: the modules with sources and javadoc, and no other. */
class BomTest {
    private static final Pattern DEPENDENCY = Pattern.compile("<artifactId>([^<]+)</artifactId><version>");
    private static final String NO_LIBRARY = "<attachments.skip>true</attachments.skip>";

    private static Path checkout() {
        Path at = Path.of("").toAbsolutePath();
        while (!Files.exists(at.resolve("softrdma-bom"))) {
            at = Objects.requireNonNull(at.getParent(), "not below a checkout");
        }
        return at;
    }

    @Test
    void shouldHaveEachLibrary() throws IOException {
        TreeSet<String> libraries = new TreeSet<>();
        try (DirectoryStream<Path> poms = Files.newDirectoryStream(checkout(), Files::isDirectory)) {
            for (Path module : poms) {
                Path pom = module.resolve("pom.xml");
                if (Files.exists(pom)
                        && !module.endsWith("softrdma-bom")
                        && !Files.readString(pom).contains(NO_LIBRARY)) {
                    libraries.add(module.getFileName().toString());
                }
            }
        }
        String bom = Files.readString(checkout().resolve("softrdma-bom/pom.xml"));
        assertEquals(
                libraries,
                DEPENDENCY
                        .matcher(bom)
                        .results()
                        .map(found -> found.group(1))
                        .collect(Collectors.toCollection(TreeSet::new)));
    }
}
