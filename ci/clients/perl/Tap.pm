# The few lines of TAP that the Perl clients need: Test::More, and a test that waits.
package Tap;
use strict;
use warnings;
use Exporter 'import';
use Test::More;
use Time::HiRes qw(sleep time);
our @EXPORT = qw(check within done_testing);

# One test: the call returns something true.
sub check {
    my ($name, $call) = @_;
    my $result = eval { $call->() };
    my $reason = $@;
    ok($result, $name);
    diag($reason) if $reason;
    return;
}

# True as soon as the call is, if that is in time.
sub within {
    my ($seconds, $call) = @_;
    my $end = time + $seconds;
    while (time < $end) {
        return 1 if $call->();
        sleep 0.05;
    }
    return 0;
}
1;
