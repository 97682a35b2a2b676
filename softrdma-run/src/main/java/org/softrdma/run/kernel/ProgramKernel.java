package org.softrdma.run.kernel;

import java.lang.foreign.MemorySegment;

/**
 * What answering a program's calls takes: the calls themselves, the program's memory and descriptors, and files to hand to it. Results
 * below zero are a negative errno. One thread at a time.
 */
public interface ProgramKernel {
    /** Any number for a descriptor: the lowest that is free. */
    int ANY_NUMBER = -1;

    /** A descriptor that can be read while a call waits. */
    int listener();

    /**
     * Waits for a call.
     *
     * @return false if none has come after all: its thread has died, or a signal came
     */
    boolean receive(Notification into);

    /** Whether there is a call to {@link #receive}. */
    boolean hasCall();

    /** Whether a call still waits. If not, its thread's number may be another's. */
    boolean waits(long id);

    /** Answers a call with a result. */
    void answer(long id, long result);

    /** Answers a call with an errno. */
    void refuse(long id, int errno);

    /** Lets the kernel do what was called for. */
    void pass(long id);

    /**
     * Gives the calling program a copy of a descriptor of this process.
     *
     * @param number what it is to be there, or {@link #ANY_NUMBER}
     * @param answer whether that number is the call's answer
     * @return the number
     */
    int give(long id, int descriptor, int number, boolean closeOnExec, boolean answer);

    /** Copies from a program's memory; returns how many bytes, which are fewer where the memory ends. */
    long read(int thread, long address, MemorySegment target, long length);

    /** Copies to a program's memory; returns how many bytes. */
    long write(int thread, MemorySegment source, long address, long length);

    /** What a link below /proc/THREAD leads to, such as {@code fd/3} or {@code cwd}; empty if it is not there. */
    String linkOf(int thread, String name);

    /**
     * Reads the link below /proc of a program's descriptor, without an object for it.
     *
     * @param into gets the bytes, as many as it has room for
     * @return how many; 0 if it is closed
     */
    int readLink(int thread, int descriptor, MemorySegment into);

    /**
     * Makes a file in memory.
     *
     * @param name which {@link #linkOf} tells of every descriptor of it, as {@code /memfd:NAME (deleted)}
     * @return its descriptor; reading begins at the first byte
     */
    int createFile(String name, byte[] content);

    /**
     * Gives a file in memory a length, and maps all of it.
     *
     * @throws CallRefusedException if there is no room
     */
    MemorySegment map(int file, long length) throws CallRefusedException;

    /** Gives the addresses of a mapping back. */
    void unmap(MemorySegment mapping);

    /** The first eight bytes of the file behind a program's descriptor. */
    long word(int thread, int descriptor) throws CallRefusedException;

    /** Sets them. */
    void setWord(int thread, int descriptor, long value) throws CallRefusedException;

    /** How a program's descriptor was opened, and what fcntl(2) has made of that, such as O_NONBLOCK; 0 if it is closed. */
    int statusFlags(int thread, int descriptor);

    /** Lets reading and writing by a descriptor of this process, and by its copies, wait for nothing. */
    void setNonBlocking(int descriptor);

    /**
     * Opens the file in memory behind a program's descriptor here, too, to read and write.
     *
     * @return a descriptor of this process, or a negative errno
     */
    int open(int thread, int descriptor);

    /** Makes a pipe: the descriptor to read in the low 32 bits, the one to write in the high ones. */
    long createPipe();

    /**
     * Reads a pipe empty by the program's end, and writes back what does not begin with a word.
     *
     * @param descriptor of the reading end in the program
     * @param writingEnd here
     * @param word of those that go
     * @param length bytes of each record
     * @return how many have gone
     */
    int removeWords(int thread, int descriptor, int writingEnd, long word, int length);

    /** The process that a thread is of; the thread's own number if it has ended. */
    int processOf(int thread);

    /** Whether nobody has the reading end of a pipe any more. */
    boolean isAbandoned(int writingEnd);

    /** Lets a process end when the writing end of a pipe closes ({@link KillingPipe}). */
    void killWhenClosed(int readingEnd, int process);

    /** Closes a descriptor of this process. */
    void close(int descriptor);
}
