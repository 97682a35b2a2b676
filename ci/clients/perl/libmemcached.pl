# The main calls of Memcached::libmemcached, as TAP. Arguments: host, port, text or binary.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Memcached::libmemcached qw(MEMCACHED_BEHAVIOR_BINARY_PROTOCOL MEMCACHED_BEHAVIOR_SUPPORT_CAS);
use Tap;

my ($host, $port, $protocol) = @ARGV;
my $client = Memcached::libmemcached->new;
$client->memcached_behavior_set(MEMCACHED_BEHAVIOR_BINARY_PROTOCOL, $protocol eq 'binary' ? 1 : 0);
$client->memcached_behavior_set(MEMCACHED_BEHAVIOR_SUPPORT_CAS, 1);
$client->memcached_server_add($host, $port) or die $client->errstr;

check('version', sub { $client->memcached_version ? 1 : $client->memcached_server_count });
check('flush', sub { $client->memcached_flush(0) });
check('set', sub { $client->memcached_set('key', 'value') });
check('get', sub { $client->memcached_get('key') eq 'value' });
check('miss', sub { !defined $client->memcached_get('nothing') });
check('add', sub { $client->memcached_add('added', 1) && !$client->memcached_add('added', 2) });
check('replace', sub { $client->memcached_replace('key', 'b') && !$client->memcached_replace('nothing', 'b') });
check('append', sub { $client->memcached_append('key', 'c') && $client->memcached_get('key') eq 'bc' });
check('prepend', sub { $client->memcached_prepend('key', 'a') && $client->memcached_get('key') eq 'abc' });
check('flags', sub {
    my $flags;
    $client->memcached_set('flagged', 'x', 0, 305_419_896) && $client->memcached_get('flagged', $flags) eq 'x'
        && $flags == 305_419_896;
});
check('increment', sub { my $n; $client->memcached_set('n', 10) && $client->memcached_increment('n', 5, $n) && $n == 15 });
check('decrement', sub { my $n; $client->memcached_decrement('n', 20, $n) && $n == 0 });
check('delete', sub { $client->memcached_delete('key') && !$client->memcached_delete('key') });
check('get of many', sub {
    $client->memcached_set('a', 1); $client->memcached_set('b', 2);
    $client->mget_into_hashref(['a', 'nothing', 'b'], \my %many);
    keys %many == 2 && $many{b} == 2;
});
check('900 KB', sub { $client->memcached_set('large', 'x' x 900_000) && length $client->memcached_get('large') == 900_000 });
check('expiry', sub { $client->memcached_set('soon', 'x', 1) && within(5, sub { !defined $client->memcached_get('soon') }) });
done_testing();
