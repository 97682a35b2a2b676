package org.softrdma.disni.library;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Locale;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.softrdma.ibverbs.Errno;
import org.softrdma.ibverbs.LibraryUnavailableException;

/** What keeps DiSNI from being used is told as a reason and a remedy, the same each time. */
class InstalledDisniTest {
    private static void expect(Throwable failure, String reason, String remedy) {
        LibraryUnavailableException told = InstalledDisni.explain(failure);
        String message = String.valueOf(told.getMessage());
        assertTrue(message.contains(reason), message);
        assertTrue(told.remedy().contains(remedy), told.remedy());
    }

    @Test
    void shouldNameUpstreamsProcedureWhenTheLibraryIsMissing() {
        expect(
                new UnsatisfiedLinkError("no disni in java.library.path: /usr/lib"),
                "no libdisni.so in java.library.path",
                "https://github.com/zrlio/disni#building-disni");
    }

    @Test
    void shouldNameThePackagesWhenWhatTheLibraryNeedsIsMissing() {
        expect(
                new UnsatisfiedLinkError(
                        "/x/libdisni.so: librdmacm.so.1: cannot open shared object file: No such file"),
                "librdmacm.so.1",
                "apt-get install libibverbs1 librdmacm1");
    }

    @Test
    void shouldNameTheFlagsWhenTheJvmRefuses() {
        expect(
                new IllegalAccessError(
                        "class com.ibm.disni.util.MemoryUtils cannot access class sun.nio.ch.DirectBuffer"),
                "sun.nio.ch.DirectBuffer",
                "--add-exports java.base/sun.nio.ch=ALL-UNNAMED");
        expect(
                new ExceptionInInitializerError(new IllegalCallerException("Illegal native access")),
                "does not let DiSNI load native code",
                "--enable-native-access=ALL-UNNAMED");
    }

    @Test
    void shouldNameTheVersionWhenTheLibraryIsAnother() {
        expect(new UnsatisfiedLinkError("'int com.ibm.disni._getVersion()'"), "_getVersion", "DiSNI 2.1");
        expect(new NoClassDefFoundError("Could not initialize class X"), "X", "DiSNI 2.1");
    }

    @Test
    void shouldSayTheSameWhenItIsLoadedTwice() {
        assertEquals(load(), load());
    }

    private static String load() {
        try {
            return String.valueOf(System.identityHashCode(InstalledDisni.load()));
        } catch (LibraryUnavailableException e) {
            return e.getMessage() + e.remedy();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "'j2c::listen: rdma_listen failed: Address already in use\n', 98",
        "'j2c::deregMr:  ibv_dereg_failed, error: Device or resource busy\n', 16",
        "'j2c::post_recv: ibv_post_recv failed: Unknown error -107\n', 107",
        "rdma_destroy_cq failed with -1, 0",
        "null, 0"
    })
    void shouldFindTheErrorNumberByItsText(String message, int errno) {
        Assumptions.assumeTrue(
                Locale.getDefault().getLanguage().isEmpty()
                        || Locale.getDefault().equals(Locale.ENGLISH)
                        || Locale.getDefault().getLanguage().equals("en"),
                "the C library speaks another language here");
        assertEquals(errno, ErrorText.errnoOf(message));
        assertEquals(Errno.ENODEV, ErrorText.errnoOf("x failed: No such device"));
    }
}
