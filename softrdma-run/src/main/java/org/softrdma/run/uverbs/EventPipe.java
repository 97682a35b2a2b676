package org.softrdma.run.uverbs;

import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ProgramKernel;

/**
 * A pipe of events: the program reads, this process writes.
 *
 * @param writingEnd here
 * @param number of the reading end in the program
 */
record EventPipe(int writingEnd, int number) {
    /** Makes one, and gives the program its end. */
    static EventPipe give(ProgramKernel kernel, long call) throws CallRefusedException {
        long pipe = kernel.createPipe();
        if (pipe < 0) {
            throw new CallRefusedException((int) -pipe);
        }
        int readingEnd = (int) pipe;
        int writingEnd = (int) (pipe >>> Integer.SIZE);
        int given = kernel.give(call, readingEnd, ProgramKernel.ANY_NUMBER, true, false);
        kernel.close(readingEnd);
        if (given < 0) {
            kernel.close(writingEnd);
            throw new CallRefusedException(-given);
        }
        return new EventPipe(writingEnd, given);
    }

    /**
     * Takes back the events of an object that the program has not read, as a kernel does when the object goes: the program waits until
     * it has acknowledged as many as it was given.
     *
     * @param thread of the program
     * @param length bytes of an event, which begins with the cookie
     * @return how many
     */
    int takeBack(ProgramKernel kernel, int thread, long cookie, int length) {
        return kernel.removeWords(thread, number, writingEnd, cookie, length);
    }
}
