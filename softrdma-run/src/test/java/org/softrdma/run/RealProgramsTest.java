package org.softrdma.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs below a real filter: the files that they see, and who ends when. */
class RealProgramsTest {
    private static final int ENOSYS = 38;

    @TempDir
    private Path folder;

    private RealRun real;

    @BeforeEach
    void open() throws InterruptedException {
        RealRun.requireSeccomp();
        real = new RealRun(folder);
    }

    private int run(String... program) throws Exception {
        return real.run(program);
    }

    private String said() {
        return real.said();
    }

    @Test
    void shouldShowFilesThatAreNotThereAndThoseThatAre() throws Exception {
        int code = run("sh", "-c", """
            cat /sys/class/infiniband/rxe0/node_type /dev/null /etc/hostname
            ls -la /sys/class/infiniband /dev/infiniband || exit 1
            cd /sys/class && cat infiniband_verbs/uverbs0/ibdev && cat infiniband/../infiniband/rxe0/ports/1/state
            test -c /dev/infiniband/uverbs0 && test -d /sys/class/infiniband/rxe0/ports || exit 2
            test -e /sys/class/infiniband/mlx5_0 && exit 3
            echo x 2>/dev/null >/sys/class/infiniband/rxe0/node_type && exit 4
            cat /nonexistent 2>/dev/null
            exit 42
            """);
        String said = said();
        assertEquals(42, code, said);
        assertTrue(said.contains("1: CA\n"), said);
        assertTrue(said.contains("4: ACTIVE\n"), said);
        assertTrue(said.contains("231, 192"), said);
        assertTrue(said.contains("rxe0\n"), said);
    }

    @Test
    void shouldGiveAProgramNoDescriptorOfItsRandomNumbers() throws Exception {
        assertEquals(0, run("sh", "-c", "ls -l /proc/self/fd"));
        assertFalse(said().contains("random"), said());
    }

    /** A class that the launcher loaded would wait for a thread that may wait for the launcher, at a safepoint. */
    @Test
    void shouldLoadNoClassBelowTheFilter() throws Exception {
        Path log = folder.resolve("log");
        Process run = real.startWith(List.of("-Xlog:class+load=info,os+thread=info:file=" + log + ":tid"), "true");
        assertTrue(run.waitFor(RealRun.DEADLINE_SECONDS, TimeUnit.SECONDS), () -> said());
        List<String> lines = Files.readAllLines(log);
        int answersBegin = indexOf(lines, "Thread is alive (tid: " + thread(lines, "calls") + ",");
        String launcher = "[" + thread(lines, "launcher") + "]";
        assertEquals(
                List.of(),
                lines.subList(answersBegin, lines.size()).stream()
                        .filter(line -> line.startsWith(launcher) && line.contains(" source: "))
                        .toList());
    }

    private static String thread(List<String> lines, String name) {
        String line = lines.get(indexOf(lines, "JavaThread exiting (name: \"" + name + "\", tid: "));
        return line.replaceFirst(".*tid: ", "").replaceFirst("\\).*", "");
    }

    private static int indexOf(List<String> lines, String part) {
        int index = 0;
        while (!lines.get(index).contains(part)) {
            index++;
        }
        return index;
    }

    @Test
    void shouldEndWhatTheProgramLeavesBehindAndTellItsSignal() throws Exception {
        Path left = folder.resolve("left");
        assertEquals(
                128 + 9,
                run("sh", "-c", "(trap '' TERM; exec sleep 1000) & echo $! >" + left + "; kill -9 $$"),
                said());
        assertFalse(
                ProcessHandle.of(real.await(left)).map(ProcessHandle::isAlive).orElse(false));
    }

    @Test
    void shouldEndTheProgramWhenThisProcessIsKilled() throws Exception {
        Path number = folder.resolve("number");
        Process run = real.start("sh", "-c", "echo $$ >" + number + "; while :; do :; done");
        long program = real.await(number);
        try {
            run.destroyForcibly().waitFor();
            RealRun.awaitEnd(program);
        } finally {
            ProcessHandle.of(program).ifPresent(ProcessHandle::destroyForcibly);
        }
    }

    /** What has not opened the device may go on, but it has no files any more: each call is answered, none waits. */
    @Test
    void shouldFailTheCallsOfWhatIsLeftWhenThisProcessIsKilled() throws Exception {
        RealRun.requireProgram("python3", "python3");
        Path number = folder.resolve("errno");
        Process run = real.start("python3", "-c", """
            import os, sys
            output = os.open(sys.argv[1], os.O_WRONLY | os.O_CREAT)
            if os.fork() == 0:
                print("begun", flush=True)
                try:
                    while True:
                        os.stat("/etc/hostname")
                except OSError as failure:
                    os.write(output, b"%d\\n" % failure.errno)
                    os._exit(0)
            os.wait()
            """, number.toString());
        try {
            real.until("begun");
            run.destroyForcibly().waitFor();
            assertEquals(ENOSYS, real.await(number));
        } finally {
            run.destroyForcibly();
        }
    }

    @Test
    void shouldSayWhenThereIsNoSuchProgram() throws Exception {
        assertEquals(127, run("no-such-program"), said());
        assertTrue(said().contains("no-such-program: no such program"), said());
        Path file = Files.writeString(folder.resolve("file"), "no program");
        assertEquals(126, run(file.toString()), said());
        assertTrue(said().contains("not executable"), said());
    }

    @Test
    void shouldShowTheCardToIbvDevinfo() throws Exception {
        RealRun.requireProgram("ibv_devinfo", "ibverbs-utils");
        assertEquals(0, run("sh", "-c", "ibv_devices && ibv_devinfo -v -d rxe0"), said());
        String said = said();
        assertTrue(said.contains("hca_id:\trxe0"), said);
        assertTrue(said.contains("PORT_ACTIVE (4)"), said);
        assertTrue(said.contains("max_qp_wr:\t\t\t16384"), said);
        assertTrue(said.contains("RoCE v2"), said);
    }

    /** The child has the context, too, and ends before its parent, which goes on. */
    @Test
    void shouldServeAPythonProgramThatForks() throws Exception {
        RealRun.requireProgram("python3", "python3");
        Path script = Files.writeString(folder.resolve("fork.py"), """
            import ctypes, mmap, os, subprocess
            verbs = ctypes.CDLL("libibverbs.so.1", use_errno=True)
            for name in "ibv_get_device_list", "ibv_open_device", "ibv_alloc_pd", "ibv_reg_mr":
                getattr(verbs, name).restype = ctypes.c_void_p
            assert verbs.ibv_fork_init() == 0
            devices = ctypes.cast(verbs.ibv_get_device_list(None), ctypes.POINTER(ctypes.c_void_p))
            context = ctypes.c_void_p(verbs.ibv_open_device(ctypes.c_void_p(devices[0])))
            domain = ctypes.c_void_p(verbs.ibv_alloc_pd(context))
            def region(): # of memory of its own: ibv_fork_init keeps what is registered from a child
                memory = (ctypes.c_char * 65536).from_buffer(mmap.mmap(-1, 65536))
                return ctypes.c_void_p(verbs.ibv_reg_mr(domain, memory, ctypes.c_size_t(65536), 7))
            first = region()
            assert first.value
            child = os.fork()
            if child == 0:
                second = region()
                os._exit(7 if second.value and verbs.ibv_dereg_mr(second) == 0 else 8)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
            print(subprocess.check_output(["ls", "/sys/class/infiniband"], text=True))
            assert verbs.ibv_dereg_mr(first) == 0 and verbs.ibv_dealloc_pd(domain) == 0
            assert verbs.ibv_close_device(context) == 0
            """);
        assertEquals(0, run("python3", script.toString()), said());
        assertTrue(said().contains("rxe0"), said());
    }
}
