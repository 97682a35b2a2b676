package org.softrdma.testkit;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/** Marks a test method as a case of the conformance suite. */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface ConformanceCase {
    /**
     * Its number in the catalogue: permanent, never reused. Cases without a counterpart in another suite start at 200.
     */
    int number();

    /** The rule, in one line. */
    String title();

    /** Where the rule comes from: a man page, an RFC section, the name of a test in google/rdma-unit-test. */
    String source();
}
