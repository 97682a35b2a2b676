package org.softrdma.docs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * What README, CONTRIBUTING and docs/ promise of themselves: links lead somewhere, every path into docs/ that the code cites
 * exists, code is what a test runs, lines are short.
 *
 * <p>A comment {@code <!-- code: PATH#NAME -->} above a block of Java or C says where it comes from: the lines of that file between
 * {@code // docs: NAME} and the next {@code // docs: end}. Blanks and line ends may differ.
 */
class DocumentationTest {
    private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
    private static final int MAX_LINE = 120;
    private static final int MAX_README_LINES = 150;

    private static final Set<String> NOT_OURS = Set.of(".git", "target");
    private static final Set<String> TEXT = Set.of("java", "xml", "md", "lua", "py", "c", "yml");

    private static final Pattern LINK = Pattern.compile("\\]\\(([^)\\s]+)\\)");
    private static final Pattern CITED = Pattern.compile("(?<![\\w/.-])docs/[\\w/-]+\\.(?:md|lua|svg)");
    private static final Pattern FENCE = Pattern.compile("(?ms)^```.*?^```$");
    private static final Pattern HEADING = Pattern.compile("(?m)^#{1,6} (.+)$");
    private static final Pattern JAVA =
            Pattern.compile("(?ms)(?:^<!-- code: (\\S+)#(\\S+) -->\\n)?^```(?:java|c)\\n(.*?)^```$");

    @Test
    void shouldLeadSomewhereWhenLinked() throws IOException {
        List<String> broken = new ArrayList<>();
        for (Path page : files("md")) {
            for (MatchResult link : all(LINK, FENCE.matcher(read(page)).replaceAll(""))) {
                if (!link.group(1).contains("://") && !leadsSomewhere(page, link.group(1))) {
                    broken.add(name(page) + ": " + link.group(1));
                }
            }
        }
        assertEquals(List.of(), broken);
    }

    private static boolean leadsSomewhere(Path page, String link) throws IOException {
        int hash = link.indexOf('#');
        String path = hash < 0 ? link : link.substring(0, hash);
        Path target = path.isEmpty() ? page : page.resolveSibling(path).normalize();
        if (!target.startsWith(ROOT) || !Files.exists(target)) {
            return false;
        }
        return hash < 0 || anchors(target).contains(link.substring(hash + 1));
    }

    /** As GitHub names headings. */
    private static List<String> anchors(Path page) throws IOException {
        return all(HEADING, FENCE.matcher(read(page)).replaceAll("")).stream()
                .map(heading -> heading.group(1)
                        .toLowerCase(Locale.ROOT)
                        .replaceAll("[^\\p{L}\\p{N}_ -]", "")
                        .replace(' ', '-'))
                .toList();
    }

    @Test
    void shouldExistWhenCodeCitesIt() throws IOException {
        List<String> missing = new ArrayList<>();
        for (Path file : files("")) {
            for (MatchResult cited : all(CITED, read(file))) {
                if (!Files.exists(ROOT.resolve(cited.group()))) {
                    missing.add(name(file) + ": " + cited.group());
                }
            }
        }
        assertEquals(List.of(), missing);
    }

    @Test
    void shouldShowCodeThatTestsRun() throws IOException {
        int shown = 0;
        for (Path page : files("md")) {
            for (MatchResult block : all(JAVA, read(page))) {
                if (block.group(1) == null) {
                    assertEquals("README.md", name(page), "code without a comment that says which test runs it");
                    continue; // a whole program, which ReadmeExampleTest of softrdma-sim runs as it stands
                }
                String source = read(ROOT.resolve(block.group(1)));
                assertEquals(
                        squeezed(region(source, block.group(2))),
                        squeezed(block.group(3)),
                        name(page) + ": " + block.group(2));
                shown++;
            }
        }
        assertTrue(shown > 10, "blocks found: " + shown);
    }

    private static String region(String source, String name) {
        String begin = "// docs: " + name + "\n";
        int from = source.indexOf(begin);
        assertTrue(from >= 0, "no line '" + begin.strip() + "'");
        return source.substring(from + begin.length(), source.indexOf("// docs: end\n", from));
    }

    private static String squeezed(String code) {
        return code.replaceAll("\\s+", "");
    }

    @Test
    void shouldHaveShortLinesOutsideTablesAndCode() throws IOException {
        List<String> longLines = new ArrayList<>();
        for (Path page : files("md")) {
            String[] lines = FENCE.matcher(read(page)).replaceAll("").split("\n", -1);
            for (String line : lines) {
                if (line.length() > MAX_LINE && !line.strip().startsWith("|")) {
                    longLines.add(name(page) + ": " + line);
                }
            }
        }
        assertEquals(List.of(), longLines);
        long readme = read(ROOT.resolve("README.md")).lines().count();
        assertTrue(readme <= MAX_README_LINES, "README has " + readme + " lines");
    }

    private static List<MatchResult> all(Pattern pattern, String text) {
        Matcher matcher = pattern.matcher(text);
        return matcher.results().toList();
    }

    private static String read(Path file) throws IOException {
        return Files.readString(file, StandardCharsets.UTF_8);
    }

    private static String name(Path file) {
        return ROOT.relativize(file).toString();
    }

    /** Text files of the checkout with that extension; with an empty one all, and scripts, which have none. */
    private static List<Path> files(String extension) throws IOException {
        List<Path> found = new ArrayList<>();
        Files.walkFileTree(ROOT, new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path directory, BasicFileAttributes attributes) {
                return NOT_OURS.contains(directory.getFileName().toString())
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String fileName = file.getFileName().toString();
                String ending = fileName.substring(fileName.lastIndexOf('.') + 1);
                boolean script = !fileName.contains(".") && file.startsWith(ROOT.resolve("ci"));
                if (extension.isEmpty() ? script || TEXT.contains(ending) : ending.equals(extension)) {
                    found.add(file);
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return found;
    }
}
