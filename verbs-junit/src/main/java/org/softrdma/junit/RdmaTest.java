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
 * of type {@link org.softrdma.verbs.device.VerbsDevice} is a device of its own:
 *
 * <pre>{@code
 * @RdmaTest
 * void shouldEcho(VerbsDevice server, VerbsDevice client) {
 *     ...
 * }
 * }</pre>
 *
 * <p>The devices are closed after the test. What the test has left open on them by then fails it, with the lines that
 * created it: queue pairs, listeners and connectors (so sockets), regions, completion queues, memory.
 */
@Documented
@Target({ElementType.METHOD, ElementType.ANNOTATION_TYPE})
@Retention(RetentionPolicy.RUNTIME)
@Test
@ExtendWith(RdmaExtension.class)
public @interface RdmaTest {
    /** Whether the test fails on a rule of verbs that it breaks: {@link org.softrdma.sanitiser.finding.Rule}. */
    boolean sanitised() default true;
}
