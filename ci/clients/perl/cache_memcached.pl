# The main calls of Cache::Memcached and of Cache::Memcached::Fast, as TAP. Arguments: host, port, module.
use strict;
use warnings;
use FindBin;
use lib $FindBin::Bin;
use Tap;

my ($host, $port, $module) = @ARGV;
eval "require $module" or die $@;
my $fast = $module eq 'Cache::Memcached::Fast';
my $client = $module->new({servers => ["$host:$port"], ($fast ? (io_timeout => 10, connect_timeout => 10) : ())});

check('flush', sub { $client->flush_all || 1 });
check('set', sub { $client->set('key', 'value') });
check('get', sub { $client->get('key') eq 'value' });
check('miss', sub { !defined $client->get('nothing') });
check('objects', sub { $client->set('object', {a => [1, 2]}) && $client->get('object')->{a}[1] == 2 });
check('add', sub { $client->add('added', 1) && !$client->add('added', 2) });
check('replace', sub { $client->replace('key', 'b') && !$client->replace('nothing', 'b') });
check('append', sub { $client->append('key', 'c') && $client->get('key') eq 'bc' });
check('prepend', sub { $client->prepend('key', 'a') && $client->get('key') eq 'abc' });
if ($fast) {
    check('cas', sub {
        my $token = $client->gets('key')->[0];
        $client->cas('key', $token, 'new') && !$client->cas('key', $token, 'old');
    });
    check('touch', sub { $client->touch('key', 100) && !$client->touch('nothing', 1) });
    check('gets of many', sub { $client->gets_multi('key', 'nothing')->{key}[1] eq 'new' });
    check('set of many', sub { !grep { !$_ } $client->set_multi(['x', 1], ['y', 2]) });
    check('version', sub { (values %{$client->server_versions})[0] =~ /^\d/ });
} else {
    check('stats', sub { $client->stats('misc')->{hosts}{"$host:$port"}{misc}{curr_items} > 0 });
}
check('incr', sub { $client->set('n', 10) && $client->incr('n', 5) == 15 });
check('decr', sub { $client->decr('n', 20) == 0 });
check('delete', sub { $client->delete('key') && !$client->delete('key') });
check('get of many', sub {
    $client->set('a', 1); $client->set('b', 2);
    my $many = $client->get_multi('a', 'nothing', 'b');
    keys %$many == 2 && $many->{b} == 2;
});
check('empty value', sub { $client->set('empty', '') && $client->get('empty') eq '' });
check('900 KB', sub { $client->set('large', 'x' x 900_000) && length $client->get('large') == 900_000 });
check('key of 240 bytes', sub { $client->set('k' x 240, 'x') && $client->get('k' x 240) eq 'x' });
check('expiry', sub { $client->set('soon', 'x', 1) && within(5, sub { !defined $client->get('soon') }) });
done_testing();
