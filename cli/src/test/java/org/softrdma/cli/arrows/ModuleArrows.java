package org.softrdma.cli.arrows;

import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.properties.HasName;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.lang.syntax.ArchRuleDefinition;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.constantpool.PoolEntry;
import java.lang.classfile.constantpool.StringEntry;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The arrows between the modules, and the house rules that bytecode shows, as ArchUnit rules below one root package: the
 * real classes live below {@code org.softrdma}, the fixtures that break every rule below a root of their own.
 *
 * <p>A module is known by its base package, the first one below the root.
 */
final class ModuleArrows {
    /** {@code A -> B, C}: A may import B and C. The one place to change when an arrow is added. */
    static final Map<String, Set<String>> ARROWS = new TreeMap<>(Map.ofEntries(
            Map.entry("verbs", Set.of()),
            Map.entry("testkit", Set.of("verbs")),
            Map.entry("sanitiser", Set.of("verbs")),
            Map.entry("net", Set.of()),
            Map.entry("sim", Set.of("verbs", "net")),
            Map.entry("fabric", Set.of("verbs", "net", "sim")),
            Map.entry("run", Set.of("verbs", "net", "sim", "fabric")),
            Map.entry("junit", Set.of("verbs", "fabric", "sanitiser")),
            Map.entry("ibverbs", Set.of("verbs")),
            Map.entry("disni", Set.of("verbs", "ibverbs")),
            Map.entry("rdmacore", Set.of("verbs", "ibverbs")),
            Map.entry("kv", Set.of("verbs", "net")),
            Map.entry("stores", Set.of("verbs")),
            Map.entry("farm", Set.of("verbs", "stores")),
            Map.entry("cluster", Set.of("verbs", "stores", "farm")),
            Map.entry("suites", Set.of("verbs", "testkit", "net", "sim", "fabric", "kv")),
            Map.entry("bench", Set.of("kv", "stores", "verbs")),
            Map.entry(
                    "cli",
                    Set.of(
                            "verbs",
                            "testkit",
                            "net",
                            "sim",
                            "ibverbs",
                            "disni",
                            "rdmacore",
                            "kv",
                            "stores",
                            "farm",
                            "cluster",
                            "fabric",
                            "run",
                            "suites",
                            "bench"))));

    /** Libraries that stay where they are, by their packages, and the packages below the root that may use them. */
    static final Map<String, List<String>> LIBRARIES = new TreeMap<>(Map.of(
            "com.ibm.disni..", List.of("disni.."),
            "org.apache.zookeeper..", List.of("cluster.."),
            "io.netty..", List.of("net.transport..", "kv.server.stream.."),
            "org.agrona..",
                    List.of(
                            "net..",
                            "sim..",
                            "fabric..",
                            "suites..",
                            "kv..",
                            "stores..",
                            "farm..",
                            "cluster..",
                            "cli.."),
            "org.junit..", List.of("testkit..", "junit..", "cli.."),
            "com.fasterxml.jackson..", List.of("bench..", "cli.."),
            "org.HdrHistogram..", List.of("bench..", "cli.."),
            "picocli..", List.of("cli.."),
            "me.tongfei.progressbar..", List.of("cli.."),
            "org.openjdk.jmh..", List.of()));

    /**
     * The packages of the wire iWARP, and the packages below the root that may use them: nobody else knows DDP, MPA or
     * FPDUs, but whoever chooses the wire, and the fabric, whose fault plans name messages.
     */
    static final Map<String, List<String>> IWARP = new TreeMap<>(Map.of(
            "org.softrdma.sim.wire..",
                    List.of(
                            "sim.wire..",
                            "sim.carrier..",
                            "sim.rdmap..",
                            "sim.connection..",
                            "sim.fabric..",
                            "fabric.."),
            "org.softrdma.sim.carrier..", List.of("sim.carrier..", "sim.rdmap..", "sim.connection.."),
            "org.softrdma.sim.rdmap..", List.of("sim.rdmap..", "sim.connection.."),
            "org.softrdma.sim.connection..", List.of("sim.connection..", "sim")));

    /** The designs of stores, by their packages. */
    static final Set<String> DESIGNS = Set.of("stores.pilaf", "stores.herd", "stores.nessie", "farm");

    private final String root;

    /**
     * @param root the package below which the modules are
     */
    ModuleArrows(final String root) {
        this.root = root;
    }

    /** No class of {@code module} depends on a module that its arrows do not name. */
    ArchRule arrowsOf(final String module) {
        final String[] others = ARROWS.keySet().stream()
                .filter(other -> !other.equals(module))
                .filter(other -> !allowedFrom(module).contains(other))
                .map(other -> below(other + ".."))
                .toArray(String[]::new);
        return noClasses()
                .that()
                .resideInAPackage(below(module + ".."))
                .should()
                .dependOnClassesThat(resideInAnyPackage(others))
                .as(module + " depends on " + allowedFrom(module) + " only")
                .allowEmptyShould(true);
    }

    /** No class of {@code design} depends on another one: what designs share is in no design. */
    ArchRule designStandsAlone(final String design) {
        final String[] others = DESIGNS.stream()
                .filter(other -> !other.equals(design))
                .map(other -> below(other + ".."))
                .toArray(String[]::new);
        return noClasses()
                .that()
                .resideInAPackage(below(design + ".."))
                .should()
                .dependOnClassesThat(resideInAnyPackage(others))
                .as("the design " + design + " depends on no other design")
                .allowEmptyShould(true);
    }

    /** No class outside the packages of {@link #LIBRARIES} or {@link #IWARP} depends on {@code library}. */
    ArchRule usersOf(final String library) {
        final List<String> users = usersIn(library);
        return noClasses()
                .that()
                .resideInAPackage(root + "..")
                .and()
                .resideOutsideOfPackages(users.toArray(String[]::new))
                .should()
                .dependOnClassesThat(resideInAnyPackage(library))
                .as(library + " is used in " + users + " only")
                .allowEmptyShould(true);
    }

    /** verbs-api stands on the JDK and jspecify alone. */
    ArchRule verbsStandsAlone() {
        return ArchRuleDefinition.classes()
                .that()
                .resideInAPackage(below("verbs.."))
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(below("verbs.."), "java..", "org.jspecify.."))
                .as("verbs depends on the JDK and jspecify only")
                .allowEmptyShould(true);
    }

    /** Locks are explicit: no method is {@code synchronized}. */
    ArchRule noSynchronizedMethods() {
        return ArchRuleDefinition.noMethods()
                .should()
                .haveModifier(JavaModifier.SYNCHRONIZED)
                .as("no method is synchronized")
                .allowEmptyShould(true);
    }

    /** No class of {@code module} has a string literal that is the name of a provider: whoever picks one passes it in. */
    ArchRule namesNoProvider(final String module, final Set<String> providers) {
        return ArchRuleDefinition.classes()
                .that()
                .resideInAPackage(below(module + ".."))
                .should(new ArchCondition<>("name no provider") {
                    @Override
                    public void check(final JavaClass checked, final ConditionEvents events) {
                        final Set<String> found = new TreeSet<>(literals(checked));
                        found.retainAll(providers);
                        events.add(new SimpleConditionEvent(
                                checked, found.isEmpty(), checked.getName() + " names the provider " + found));
                    }
                })
                .as(module + " names no provider")
                .allowEmptyShould(true);
    }

    /** String literals in a class file. */
    private static Set<String> literals(final JavaClass checked) {
        final Set<String> literals = new TreeSet<>();
        try (InputStream bytes =
                checked.getSource().orElseThrow().getUri().toURL().openStream()) {
            for (PoolEntry entry : ClassFile.of().parse(bytes.readAllBytes()).constantPool()) {
                if (entry instanceof StringEntry literal) {
                    literals.add(literal.stringValue());
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(checked.getName(), e);
        }
        return literals;
    }

    /** Only the command line reads system properties; everything else gets its configuration handed in. */
    ArchRule noSystemProperties() {
        return noClasses()
                .that()
                .resideInAPackage(root + "..")
                .and()
                .resideOutsideOfPackage(below("cli.."))
                .should()
                .accessTargetWhere(
                        calls(
                                "java\\.lang\\.(System\\.getPropert(y|ies)|Integer\\.getInteger|Long\\.getLong|Boolean\\.getBoolean)"))
                .as("only cli reads system properties")
                .allowEmptyShould(true);
    }

    /** Waiting is for an event or a deadline. */
    ArchRule noSleep() {
        return noClasses()
                .should()
                .accessTargetWhere(calls("java\\.lang\\.Thread\\.sleep"))
                .as("nothing calls Thread.sleep")
                .allowEmptyShould(true);
    }

    /** A class in no module would escape every rule above. */
    ArchRule everyClassHasAModule() {
        final String[] modules =
                ARROWS.keySet().stream().map(module -> below(module + "..")).toArray(String[]::new);
        return ArchRuleDefinition.classes()
                .that()
                .resideInAPackage(root + "..")
                .should()
                .resideInAnyPackage(modules)
                .as("every class is in the base package of a module")
                .allowEmptyShould(true);
    }

    private static DescribedPredicate<JavaAccess<?>> calls(final String fullNameRegex) {
        return JavaAccess.Predicates.target(
                HasName.AndFullName.Predicates.fullNameMatching(fullNameRegex + "\\(.*\\)"));
    }

    private static Set<String> allowedFrom(final String module) {
        return ARROWS.getOrDefault(module, Set.of());
    }

    private List<String> usersIn(final String library) {
        return LIBRARIES.getOrDefault(library, IWARP.getOrDefault(library, List.of())).stream()
                .map(this::below)
                .toList();
    }

    private String below(final String packageBelowRoot) {
        return root + "." + packageBelowRoot;
    }
}
