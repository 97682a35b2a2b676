<?php
// The few lines of TAP that the PHP clients need.
$count = 0;
$failed = 0;

/** One test: the call returns true. */
function check(string $name, callable $call): void
{
    global $count, $failed;
    $count++;
    try {
        $reason = $call() === true ? '' : 'not true';
    } catch (Throwable $error) {
        $reason = get_class($error) . ': ' . $error->getMessage();
    }
    $failed += $reason === '' ? 0 : 1;
    echo $reason === '' ? "ok $count - $name\n" : "not ok $count - $name # $reason\n";
}

/** True as soon as the call is, if that is in time. */
function within(float $seconds, callable $call): bool
{
    $end = microtime(true) + $seconds;
    while (microtime(true) < $end) {
        if ($call()) {
            return true;
        }
        usleep(50000);
    }
    return false;
}

function done(): void
{
    global $count, $failed;
    echo "1..$count\n";
    exit($failed > 0 ? 1 : 0);
}
