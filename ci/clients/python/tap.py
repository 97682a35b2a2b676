"""The few lines of TAP that the Python clients need."""
import sys
import time


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def check(self, name, call):
        """One test: the call returns something true."""
        self.count += 1
        try:
            reason = "" if call() else "false"
        except Exception as error:  # whatever a library throws is a failed test
            reason = f"{type(error).__name__}: {error}"
        self.failed += 1 if reason else 0
        print(f"not ok {self.count} - {name} # {reason}" if reason else f"ok {self.count} - {name}", flush=True)

    @staticmethod
    def fails(call):
        """True if the call throws or returns something false."""
        try:
            return not call()
        except Exception:
            return True

    @staticmethod
    def within(seconds, call):
        """True as soon as the call is, if that is in time."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if call():
                return True
            time.sleep(0.05)
        return False

    def done(self):
        print(f"1..{self.count}")
        sys.exit(1 if self.failed else 0)
