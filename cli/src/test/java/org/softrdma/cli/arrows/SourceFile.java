package org.softrdma.cli.arrows;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * One Java source file: its names and where they stand, without comments and strings. Uses the JDK alone, so that {@code
 * ci/house} can run it from its source.
 */
final class SourceFile {
    private static final Pattern PACKAGE = Pattern.compile("(?m)^package\\s+([\\w.]+)\\s*;");
    private static final Pattern IMPORT = Pattern.compile("(?m)^import\\s+(?:static\\s+)?([\\w.]+)(?:\\.\\*)?\\s*;");
    private static final Pattern TYPE = Pattern.compile("\\b(?:class|interface|enum|record)\\s+([A-Z]\\w*)");
    private static final Pattern NAME = Pattern.compile("(?<![\\w.])[A-Z]\\w*");
    private static final Pattern QUALIFIED = Pattern.compile("(?<![\\w.])[a-z]\\w*(?:\\.[a-z]\\w*)+\\.[A-Z]\\w*");
    private static final Pattern NOT_CODE = Pattern.compile(
            "/\\*.*?\\*/|//[^\\n]*|\"\"\".*?\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])+'",
            Pattern.DOTALL);

    private final String module;
    private final Path path;
    private final String packageName;
    private final String code;
    private final int lines;
    private final Set<String> declared;

    private SourceFile(String module, Path path, String text) {
        this.module = module;
        this.path = path;
        lines = (int) text.lines().count();
        code = NOT_CODE.matcher(text).replaceAll(SourceFile::blank);
        Matcher found = PACKAGE.matcher(code);
        packageName = found.find() ? found.group(1) : "";
        declared =
                TYPE.matcher(code).results().map(each -> each.group(1)).collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Reads a file.
     *
     * @param module it belongs to
     * @param path of the file
     */
    static SourceFile read(String module, Path path) throws IOException {
        return new SourceFile(module, path, Files.readString(path));
    }

    /** Keeps the lines where they are. */
    private static String blank(MatchResult comment) {
        return " "
                + "\n".repeat((int)
                        comment.group().chars().filter(each -> each == '\n').count());
    }

    String module() {
        return module;
    }

    Path path() {
        return path;
    }

    String packageName() {
        return packageName;
    }

    /** The class that has the file's name. */
    String className() {
        String file = path.getFileName().toString();
        return packageName + "." + file.substring(0, file.length() - ".java".length());
    }

    int lines() {
        return lines;
    }

    /**
     * The classes that this file imports or names, with the lines.
     *
     * @param known the classes there are
     */
    Map<String, List<Integer>> uses(Set<String> known) {
        Map<String, List<Integer>> uses = new HashMap<>();
        Set<String> imported = new TreeSet<>();
        Matcher imports = IMPORT.matcher(code);
        while (imports.find()) {
            String name = imports.group(1);
            imported.add(name.substring(name.lastIndexOf('.') + 1));
            note(uses, outermost(name, known), line(imports.start()));
        }
        String body = PACKAGE.matcher(IMPORT.matcher(code).replaceAll(SourceFile::blank))
                .replaceAll(SourceFile::blank);
        Matcher names = NAME.matcher(body);
        while (names.find()) {
            String name = names.group();
            if (!imported.contains(name) && !declared.contains(name)) {
                note(uses, outermost(packageName + "." + name, known), line(body, names.start()));
            }
        }
        Matcher qualified = QUALIFIED.matcher(body);
        while (qualified.find()) {
            note(uses, outermost(qualified.group(), known), line(body, qualified.start()));
        }
        uses.remove(className());
        return uses;
    }

    private static void note(Map<String, List<Integer>> uses, String used, int line) {
        if (!used.isEmpty()) {
            uses.computeIfAbsent(used, each -> new ArrayList<>()).add(line);
        }
    }

    /** The class of a name that may be of a member or a nested class; empty if it is none of ours. */
    private static String outermost(String name, Set<String> known) {
        String left = name;
        while (!known.contains(left)) {
            int dot = left.lastIndexOf('.');
            if (dot < 0) {
                return "";
            }
            left = left.substring(0, dot);
        }
        return left;
    }

    private int line(int at) {
        return line(code, at);
    }

    private static int line(String text, int at) {
        return 1
                + (int) text.substring(0, at)
                        .chars()
                        .filter(each -> each == '\n')
                        .count();
    }

    /** The most parameters that a constructor of this file has, a record's components among them; 0 without any. */
    int longestConstructor() {
        int most = 0;
        for (String type : declared) {
            Matcher found = Pattern.compile("(?<![\\w.])" + type + "\\s*(?:<[^()]*>)?\\s*\\(")
                    .matcher(code);
            while (found.find()) {
                if (!code.substring(0, found.start()).stripTrailing().endsWith("new")) {
                    most = Math.max(most, parameters(found.end()));
                }
            }
        }
        return most;
    }

    /** The parameters of a declaration from behind its parenthesis on; 0 if it is a call. */
    private int parameters(int from) {
        int depth = 1;
        int brackets = 0;
        int count = 0;
        boolean any = false;
        int at = from;
        while (depth > 0 && at < code.length()) {
            char next = code.charAt(at++);
            switch (next) {
                case '(' -> depth++;
                case ')' -> depth--;
                case '<', '[' -> brackets++;
                case '>', ']' -> brackets--;
                case ',' -> count += depth == 1 && brackets == 0 ? 1 : 0;
                default -> any |= !Character.isWhitespace(next);
            }
        }
        String behind = code.substring(at).stripLeading();
        boolean declaration =
                behind.startsWith("{") || behind.startsWith("throws ") || behind.startsWith("implements ");
        return declaration && any ? count + 1 : 0;
    }

    @Override
    public String toString() {
        return className();
    }
}
