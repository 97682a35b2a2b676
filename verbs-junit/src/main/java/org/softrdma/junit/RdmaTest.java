package org.softrdma.junit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test with software RNICs of this process, which reach each other over TCP on the loopback address. Each parameter
 * of type {@link org.softrdma.verbs.device.VerbsDevice} is a separate device:
 *
 * <pre>{@code
 * @RdmaTest
 * void shouldEcho(VerbsDevice server, VerbsDevice client) {
 *     ...
 * }
 * }</pre>
 *
 * <p>The devices are closed after the test. The test fails if it has left an object open on them (queue pairs,
 * listeners and connectors, and so sockets; regions, completion queues, memory); the failure shows the lines that
 * created it.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Test
@ExtendWith(RdmaExtension.class)
public @interface RdmaTest {
    /** Whether the test fails if it breaks a rule of verbs: {@link org.softrdma.sanitiser.finding.Rule}. */
    boolean sanitised() default true;
}
