package org.softrdma.run.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.softrdma.run.filter.DescriptorRange;
import org.softrdma.run.kernel.Architecture;
import org.softrdma.run.kernel.CallRefusedException;
import org.softrdma.run.kernel.ErrorNumber;
import org.softrdma.run.kernel.LinuxCall;
import org.softrdma.run.kernel.Notification;
import org.softrdma.run.kernel.ScriptedKernel;

class FileCallsTest {
    private static final int WORKING_DIRECTORY = -100;
    private static final int BUFFER = 1024;
    private static final VirtualTree TREE = VirtualTree.builder()
            .root("/sys/class/infiniband")
            .root("/dev/infiniband")
            .line("/sys/class/infiniband/rxe0/ibdev", "rxe0")
            .node("/dev/infiniband/uverbs0", new VirtualNode.CharacterDevice(231, 192))
            .build();

    private final ScriptedKernel kernel = new ScriptedKernel();
    private final List<String> devices = new ArrayList<>();
    private final FileCalls files = files(Architecture.X86_64);

    private FileCalls files(Architecture architecture) {
        return new FileCalls(
                kernel,
                architecture,
                DescriptorRange.below(1024),
                TREE,
                Map.of(
                        "/dev/infiniband/uverbs0",
                        (call, closeOnExec, nonBlocking) -> devices.add("uverbs0 " + closeOnExec + " " + nonBlocking)),
                Arena.ofAuto());
    }

    private String answerTo(LinuxCall which, long... arguments) {
        return answerTo(kernel.call(which, arguments), which);
    }

    private String answerTo(Notification call, LinuxCall which) {
        kernel.answers.clear();
        try {
            files.answer(call, which);
        } catch (CallRefusedException e) {
            return "refuse " + e.errno();
        }
        return String.join("; ", kernel.answers).replaceFirst(" \\d+", "");
    }

    private String open(String path, int flags) {
        return answerTo(LinuxCall.OPENAT, WORKING_DIRECTORY, kernel.text(0, path), flags);
    }

    @Test
    void shouldGiveAFileWhenOneOfOursIsOpened() {
        assertEquals("give 3 answer", open("/sys/class/infiniband/rxe0/ibdev", 0));
        assertEquals("give 4 closeOnExec answer", open("/sys/class/infiniband/rxe0/ibdev", 02000000));
        assertEquals("/memfd:softrdma:/sys/class/infiniband/rxe0/ibdev (deleted)", kernel.links.get("fd/3"));
        assertTrue(kernel.open.isEmpty(), () -> "left open here: " + kernel.open);
    }

    @Test
    void shouldGiveDirectoriesNumbersThatTheFilterKnows() {
        assertEquals("give 960 answer", open("/sys/class/infiniband", 0200000));
        assertEquals("give 961 answer", open("/dev/infiniband/", 0));
    }

    @Test
    void shouldOpenDevicesByWhatStandsForThem() {
        assertEquals("", open("/dev/infiniband/uverbs0", 02000002));
        assertEquals("", open("/dev/infiniband/uverbs0", 04002));
        assertEquals(List.of("uverbs0 true false", "uverbs0 false true"), devices);
    }

    @ParameterizedTest
    @CsvSource({
        "/sys/class/infiniband/mlx5_0, 0, 2", // not there
        "/sys/class/infiniband/rxe0/ibdev, 0200000, 20", // no directory
        "/sys/class/infiniband/rxe0/ibdev, 1, 13", // only to read
        "/sys/class/infiniband/rxe0, 2, 21" // a directory
    })
    void shouldRefuseAsTheKernelDoes(String path, String flags, int errno) {
        assertEquals("refuse " + errno, open(path, Integer.parseInt(flags, 8)));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/etc/passwd",
                "/sys/class/net/infiniband0",
                "infiniband/rxe0",
                "",
                "/sys/class/infiniband/../net",
                "/home/rdma_cm"
            })
    void shouldLeaveOtherFilesToTheKernel(String path) {
        kernel.links.put("cwd", "/home");
        assertEquals("pass", open(path, 0));
        assertEquals("pass", answerTo(LinuxCall.STAT, kernel.text(0, path), ScriptedKernel.MEMORY + BUFFER));
    }

    @Test
    void shouldFollowEverySpellingOfAPath() {
        kernel.links.put("cwd", "/sys/class");
        kernel.links.put("fd/960", "/memfd:softrdma:/sys/class/infiniband/rxe0 (deleted)");
        kernel.links.put("fd/7", "/sys");
        assertEquals("give 3 answer", open("infiniband/rxe0/ibdev", 0));
        assertEquals("give 4 answer", open("//sys/./class/infiniband/x/../rxe0//ibdev", 0));
        assertEquals("give 5 answer", answerTo(LinuxCall.OPENAT, 960, kernel.text(0, "ibdev"), 0));
        assertEquals("give 6 answer", answerTo(LinuxCall.OPENAT, 7, kernel.text(0, "class/infiniband/rxe0/ibdev"), 0));
        assertEquals("give 7 answer", answerTo(LinuxCall.OPEN, kernel.text(0, "/sys/class/infiniband/rxe0/ibdev"), 0));
        assertEquals("pass", answerTo(LinuxCall.OPENAT, 8, kernel.text(0, "ibdev"), 0));
    }

    @Test
    void shouldLeaveAPathThatCannotBeReadToTheKernel() {
        assertEquals("pass", answerTo(LinuxCall.OPENAT, WORKING_DIRECTORY, 0, 0));
    }

    @Test
    void shouldTellOfADeviceWhatStatTells() {
        long path = kernel.text(0, "/dev/infiniband/uverbs0");
        assertEquals(
                "answer 0", answerTo(LinuxCall.NEWFSTATAT, WORKING_DIRECTORY, path, ScriptedKernel.MEMORY + BUFFER, 0));
        assertEquals(
                "0500000000000000" + "0300000000000000" + "0100000000000000" + "b621000000000000" + "0000000000000000"
                        + "c0e7000000000000" + "0000000000000000" + "0010000000000000",
                kernel.hex(BUFFER, 64));
    }

    @Test
    void shouldTellOfADeviceWhatStatTellsOnAarch64() throws CallRefusedException {
        long path = kernel.text(0, "/dev/infiniband/uverbs0");
        files(Architecture.AARCH64)
                .answer(
                        kernel.call(LinuxCall.NEWFSTATAT, WORKING_DIRECTORY, path, ScriptedKernel.MEMORY + BUFFER, 0),
                        LinuxCall.NEWFSTATAT);
        assertEquals(0020666, kernel.memory().get(ValueLayout.JAVA_INT, BUFFER + 16));
        assertEquals(1, kernel.memory().get(ValueLayout.JAVA_INT, BUFFER + 20));
        assertEquals((231 << 8) | 192, kernel.memory().get(ValueLayout.JAVA_LONG, BUFFER + 32));
    }

    @Test
    void shouldTellOfADeviceWhatStatxTells() {
        long path = kernel.text(0, "/dev/infiniband/uverbs0");
        long buffer = ScriptedKernel.MEMORY + BUFFER;
        assertEquals("answer 0", answerTo(LinuxCall.STATX, WORKING_DIRECTORY, path, 0, 0, buffer));
        assertEquals(0x7FF, kernel.memory().get(ValueLayout.JAVA_INT, BUFFER));
        assertEquals((short) 0020666, kernel.memory().get(ValueLayout.JAVA_SHORT, BUFFER + 28));
        assertEquals(231, kernel.memory().get(ValueLayout.JAVA_INT, BUFFER + 128));
        assertEquals(192, kernel.memory().get(ValueLayout.JAVA_INT, BUFFER + 132));
    }

    @Test
    void shouldTellOfOurDescriptorsWhatTheyStandFor() {
        kernel.links.put("fd/970", "/memfd:softrdma:/dev/infiniband/uverbs0#12 (deleted)");
        long buffer = ScriptedKernel.MEMORY + BUFFER;
        assertEquals("answer 0", answerTo(LinuxCall.FSTAT, 970, buffer));
        assertEquals(0020666, kernel.memory().get(ValueLayout.JAVA_INT, BUFFER + 24));
        assertEquals("answer 0", answerTo(LinuxCall.NEWFSTATAT, 970, kernel.text(0, ""), buffer, 0x1000));
        kernel.links.put("fd/971", "socket:[12]");
        assertEquals("pass", answerTo(LinuxCall.FSTAT, 971, buffer));
    }

    @Test
    void shouldListADirectoryOnceUnlessItIsRewound() {
        assertEquals("give 960 answer", open("/sys/class/infiniband", 0200000));
        long buffer = ScriptedKernel.MEMORY + BUFFER;
        assertEquals("answer 72", answerTo(LinuxCall.GETDENTS64, 960, buffer, 512));
        assertEquals(
                "0700000000000000" + "0300000000000000" + "1800" + "04" + "7278653000",
                kernel.hex(BUFFER + 48, 24)); // rxe0
        assertEquals("answer 0", answerTo(LinuxCall.GETDENTS64, 960, buffer, 512));
        assertEquals("answer 0", answerTo(LinuxCall.LSEEK, 960, 0, 0));
        assertEquals("answer 72", answerTo(LinuxCall.GETDENTS64, 960, buffer, 512));
        assertEquals("answer 1", answerTo(LinuxCall.LSEEK, 960, -2, 1));
        assertEquals("answer 48", answerTo(LinuxCall.GETDENTS64, 960, buffer, 512));
        assertEquals("refuse 22", answerTo(LinuxCall.LSEEK, 960, 0, 2));
        assertEquals("refuse 22", answerTo(LinuxCall.LSEEK, 960, Long.MAX_VALUE, 1));
    }

    @Test
    void shouldListADirectoryInPiecesWhenThereIsLittleRoom() {
        assertEquals("give 960 answer", open("/sys/class/infiniband", 0200000));
        long buffer = ScriptedKernel.MEMORY + BUFFER;
        for (int i = 0; i < 3; i++) {
            assertEquals("answer 24", answerTo(LinuxCall.GETDENTS64, 960, buffer, 30));
        }
        assertEquals("answer 0", answerTo(LinuxCall.GETDENTS64, 960, buffer, 30));
        assertEquals("answer 0", answerTo(LinuxCall.LSEEK, 960, 0, 0));
        assertEquals("refuse 22", answerTo(LinuxCall.GETDENTS64, 960, buffer, 23));
    }

    @Test
    void shouldRefuseEverythingElse() {
        long file = kernel.text(0, "/sys/class/infiniband/rxe0/ibdev");
        assertEquals("refuse 22", answerTo(LinuxCall.READLINK, file, 0, 0)); // it is no link
        assertEquals("refuse 95", answerTo(LinuxCall.LGETXATTR, file, 0, 0));
        assertEquals("answer 0", answerTo(LinuxCall.ACCESS, file, 4));
        assertEquals("refuse 13", answerTo(LinuxCall.ACCESS, file, 2));
        long missing = kernel.text(0, "/sys/class/infiniband/rxe1");
        assertEquals("refuse 2", answerTo(LinuxCall.READLINKAT, WORKING_DIRECTORY, missing, 0, 0));
        assertEquals("refuse 2", answerTo(LinuxCall.FACCESSAT2, WORKING_DIRECTORY, missing, 0, 0));
    }

    @Test
    void shouldWriteNothingWhenTheCallerHasDied() {
        kernel.waits = false;
        long path = kernel.text(0, "/dev/infiniband/uverbs0");
        assertEquals("answer 0", answerTo(LinuxCall.STAT, path, ScriptedKernel.MEMORY + BUFFER));
        assertEquals("00".repeat(144), kernel.hex(BUFFER, 144));
    }

    @Test
    void shouldSayEfaultWhenTheAnswerHasNoPlace() {
        long path = kernel.text(0, "/dev/infiniband/uverbs0");
        assertEquals("refuse 14", answerTo(LinuxCall.STAT, path, ScriptedKernel.MEMORY + 4096 - 100));
    }

    @Test
    void shouldSayWhenAProgramHasTooManyOfOurDescriptors() {
        for (int i = 960; i < 1024; i++) {
            kernel.links.put("fd/" + i, "socket:[1]");
        }
        assertEquals("refuse " + ErrorNumber.EMFILE, open("/sys/class/infiniband", 0));
    }

    @Test
    void shouldRefuseATreeWithFilesOutsideItsRoots() {
        assertThrows(
                IllegalArgumentException.class,
                () -> VirtualTree.builder().root("/a").line("/b/c", "").build());
    }
}
