package org.softrdma.run.files;

import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.ProgramKernel;

/** Numbers for descriptors of ours. */
public final class FreeNumber {
    private FreeNumber() {}

    /** The first number of a range that a program does not use. */
    public static int in(ProgramKernel kernel, int thread, DescriptorRange range) throws CallRefusedException {
        for (int number = range.low(); number < range.high(); number++) {
            if (kernel.linkOf(thread, "fd/" + number).isEmpty()) {
                return number;
            }
        }
        throw new CallRefusedException(ErrorNumber.EMFILE);
    }

    /** The last one, for what programs need not see. */
    public static int lastIn(ProgramKernel kernel, int thread, DescriptorRange range) throws CallRefusedException {
        for (int number = range.high() - 1; number >= range.low(); number--) {
            if (kernel.linkOf(thread, "fd/" + number).isEmpty()) {
                return number;
            }
        }
        throw new CallRefusedException(ErrorNumber.EMFILE);
    }
}
