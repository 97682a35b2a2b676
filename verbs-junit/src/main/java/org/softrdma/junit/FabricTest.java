package org.softrdma.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.TestTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test on a {@link org.softrdma.fabric.Fabric}: nodes, their RNICs and the network between them run one step at a
 * time, and a seed decides every choice. The test runs once for each seed, each time on a fabric of its own, until one
 * fails:
 *
 * <pre>{@code
 * @FabricTest
 * void shouldReportALostServer(@NodeName("server") FabricNode server, @NodeName("client") VerbsDevice device) {
 *     server.start("server", () -> ...);
 *     ...
 *     server.powerOff();
 *     assertThrows(..., client::get);
 * }
 * }</pre>
 *
 * <p>Parameters are the {@link org.softrdma.fabric.Fabric} and, with {@link NodeName}, a {@link
 * org.softrdma.fabric.FabricNode} or the {@link org.softrdma.verbs.device.VerbsDevice} of a node. The body of the
 * test is a process of the simulation, on a node of its own without faults. Methods such as {@code @BeforeEach} run
 * outside, where no verb may wait. The test passes when its body and every process that it has started have ended, and
 * no object that they created is open on a node that is still alive.
 *
 * <p>A failure names its seed. {@code @FabricTest(seed = ...)} or the JUnit configuration parameter {@code
 * softrdma.seed} reruns it; {@code softrdma.seeds} is the number of seeds for all such tests that set none. (A system
 * property of that name sets such a parameter.)
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@TestTemplate
@ExtendWith(FabricExtension.class)
public @interface FabricTest {
    /** How many random seeds, new ones each time. */
    int seeds() default 10;

    /** These seeds, and no others. */
    long[] seed() default {};

    /**
     * A static method of the test class without parameters that returns the test's {@link
     * org.softrdma.fabric.fault.FaultPlan}.
     */
    String faults() default "";

    /**
     * A static method of the test class without parameters that returns the test's {@link
     * org.softrdma.fabric.FabricSettings}: network, grains of memory, limits.
     */
    String settings() default "";

    /**
     * Whether the fabric does what verbs allow and a software RNIC never does by itself, for example completions that
     * come late: {@link org.softrdma.fabric.FabricSettings#withAdversary}. Use it for programs that are to run on a
     * card.
     */
    boolean adversary() default false;

    /**
     * What carries the requests of its devices, {@code iwarp}, {@code roce} or both: the test runs with each seed on each. Devices that
     * the test opens with other options have those. By default what the settings say, which is iWARP unless they say otherwise.
     */
    String[] wires() default {};

    /** Whether the test fails if it breaks a rule of verbs: {@link org.softrdma.sanitiser.finding.Rule}. */
    boolean sanitised() default true;
}
