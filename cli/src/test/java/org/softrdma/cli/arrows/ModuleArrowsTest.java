package org.softrdma.cli.arrows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.softrdma.cli.Main;
import org.softrdma.stores.StoreDesign;
import org.softrdma.verbs.device.VerbsProvider;
import org.softrdma.verbs.device.VerbsProviders;

/** The main code of every module keeps the rules of {@link ModuleArrows}, and each rule fails on a class that breaks it. */
class ModuleArrowsTest {
    private static final String FIXTURE_ROOT = ModuleArrowsTest.class.getPackageName() + ".fixture";
    private static final JavaClasses REAL = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages("org.softrdma");
    private static final JavaClasses FIXTURES = new ClassFileImporter().importPackages(FIXTURE_ROOT);

    private final ModuleArrows real = new ModuleArrows("org.softrdma");
    private final ModuleArrows broken = new ModuleArrows(FIXTURE_ROOT);

    @Test
    void shouldSeeTheMainCodeOfEveryModuleAndNoTests() {
        assertTrue(REAL.contain(Main.class));
        assertTrue(REAL.contain("org.softrdma.verbs.device.VerbsProvider"));
        assertFalse(REAL.contain(ModuleArrowsTest.class));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void shouldKeepItsArrows(final String module) {
        real.arrowsOf(module).check(REAL);
    }

    @ParameterizedTest
    @MethodSource("modules")
    void shouldFailWhenAModuleDependsOnWhatItsArrowsDoNotName(final String module) {
        final Set<String> forbidden = new TreeSet<>(ModuleArrows.ARROWS.keySet());
        forbidden.remove(module);
        forbidden.removeAll(ModuleArrows.ARROWS.getOrDefault(module, Set.of()));
        // Each fixture depends on every other, so exactly the forbidden ones are found.
        final List<String> found = failures(broken.arrowsOf(module));
        final Set<String> named = new TreeSet<>();
        for (final String other : ModuleArrows.ARROWS.keySet()) {
            if (found.stream().anyMatch(line -> line.contains("<" + probe(other) + ">"))) {
                named.add(other);
            }
        }
        assertEquals(forbidden, named);
    }

    @ParameterizedTest
    @MethodSource("designs")
    void shouldKeepDesignsApart(final String design) {
        real.designStandsAlone(design).check(REAL);
    }

    @ParameterizedTest
    @MethodSource("designs")
    void shouldFailWhenADesignDependsOnAnother(final String design) {
        final Set<String> others = new TreeSet<>(ModuleArrows.DESIGNS);
        others.remove(design);
        final List<String> found = failures(broken.designStandsAlone(design));
        final Set<String> named = ModuleArrows.DESIGNS.stream()
                .filter(other -> found.stream().anyMatch(line -> line.contains("<" + probe(other) + ">")))
                .filter(other -> !other.equals(design)) // each line names the class that depends, too
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(others, named);
    }

    /** Else a new one would escape the rule. */
    @Test
    void shouldKnowEveryDesign() {
        final Set<String> packages = REAL.stream()
                .filter(found -> found.isAssignableTo(StoreDesign.class) && !found.isInterface())
                .map(found -> found.getPackageName().substring("org.softrdma.".length()))
                .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(packages.size() >= ModuleArrows.DESIGNS.size(), packages::toString);
        for (final String found : packages) {
            assertTrue(ModuleArrows.DESIGNS.stream().anyMatch(design -> (found + ".").startsWith(design + ".")), found);
        }
    }

    @ParameterizedTest
    @MethodSource("libraries")
    void shouldKeepALibraryInItsPlace(final String library) {
        real.usersOf(library).check(REAL);
    }

    @ParameterizedTest
    @MethodSource("libraries")
    void shouldFailWhenALibraryIsUsedElsewhere(final String library) {
        assertFound("Stray", broken.usersOf(library));
    }

    @Test
    void shouldAcceptWhenALibraryIsUsedInItsPlace() {
        final List<String> found = failures(broken.usersOf("io.netty.."));
        assertTrue(found.stream().noneMatch(line -> line.contains("UsesNettyWhereItMay")), found::toString);
    }

    @Test
    void shouldKeepIwarpBehindItsSeam() {
        for (final String part : ModuleArrows.IWARP.keySet()) {
            real.usersOf(part).check(REAL);
            assertFound("Stray", broken.usersOf(part));
        }
    }

    @Test
    void shouldKeepTheHouseRules() {
        real.verbsStandsAlone().check(REAL);
        real.everyClassHasAModule().check(REAL);
        real.noSynchronizedMethods().check(REAL);
        real.noSystemProperties().check(REAL);
        real.noSleep().check(REAL);
    }

    @Test
    void shouldNameNoProviderInTheStores() {
        final Set<String> providers =
                VerbsProviders.all().stream().map(VerbsProvider::name).collect(Collectors.toSet());
        assertTrue(providers.containsAll(Set.of("sim", "rdmacore")), providers::toString);
        real.namesNoProvider("kv", providers).check(REAL);
        assertFound("kv.Probe", broken.namesNoProvider("kv", providers));
        real.namesNoProvider("stores", providers).check(REAL);
        assertFound("stores.Probe", broken.namesNoProvider("stores", providers));
        real.namesNoProvider("farm", providers).check(REAL);
        assertFound("farm.Probe", broken.namesNoProvider("farm", providers));
        real.namesNoProvider("cluster", providers).check(REAL);
        assertFound("cluster.Probe", broken.namesNoProvider("cluster", providers));
    }

    @Test
    void shouldFailWhenAHouseRuleIsBroken() {
        assertFound("verbs.Probe", broken.verbsStandsAlone());
        assertFound("Stray", broken.everyClassHasAModule());
        assertFound("Stray.locked", broken.noSynchronizedMethods());
        assertFound("Stray.property", broken.noSystemProperties());
        assertFound("Stray.number", broken.noSystemProperties());
        assertFound("Stray.pause", broken.noSleep());
    }

    @Test
    void shouldAcceptWhenTheCommandLineReadsASystemProperty() {
        final List<String> found = failures(broken.noSystemProperties());
        assertTrue(found.stream().noneMatch(line -> line.contains("cli.Probe")), found::toString);
    }

    private static void assertFound(final String culprit, final ArchRule rule) {
        final List<String> found = failures(rule);
        assertTrue(found.stream().anyMatch(line -> line.contains(culprit)), () -> culprit + " not in " + found);
    }

    private static List<String> failures(final ArchRule rule) {
        return rule.evaluate(FIXTURES).getFailureReport().getDetails();
    }

    private static String probe(final String module) {
        return FIXTURE_ROOT + "." + module + ".Probe";
    }

    private static Stream<String> modules() {
        return ModuleArrows.ARROWS.keySet().stream();
    }

    private static Stream<String> designs() {
        return ModuleArrows.DESIGNS.stream();
    }

    private static Stream<String> libraries() {
        return ModuleArrows.LIBRARIES.keySet().stream();
    }
}
