<?php
// PECL memcache's main calls, as TAP. Arguments: host, port.
require __DIR__ . '/tap.php';

$client = new Memcache();
$client->addServer($argv[1], (int) $argv[2]);

check('version', fn () => strlen((string) $client->getVersion()) > 0);
check('flush', fn () => $client->flush());
check('set', fn () => $client->set('key', 'value'));
check('get', fn () => $client->get('key') === 'value');
check('miss', fn () => $client->get('nothing') === false);
check('compressed objects', fn () => $client->set('object', ['a' => range(1, 1000)], MEMCACHE_COMPRESSED)
    && $client->get('object') === ['a' => range(1, 1000)]);
check('add', fn () => $client->add('added', '1') && !$client->add('added', '2'));
check('replace', fn () => $client->replace('key', 'b') && !$client->replace('nothing', 'b'));
check('append', fn () => $client->append('key', 'c') && $client->get('key') === 'bc');
check('prepend', fn () => $client->prepend('key', 'a') && $client->get('key') === 'abc');
check('increment', fn () => $client->set('n', '10') && $client->increment('n', 5) === 15);
check('decrement', fn () => $client->decrement('n', 20) === 0);
check('delete', fn () => $client->delete('key') && $client->get('key') === false);
check('get of many', fn () => $client->set('a', '1') && $client->set('b', '2')
    && $client->get(['a', 'nothing', 'b']) == ['a' => '1', 'b' => '2']);
check('900 KB', fn () => $client->set('large', str_repeat('x', 900000)) && strlen($client->get('large')) === 900000);
check('expiry', fn () => $client->set('soon', 'x', 0, 1) && within(5, fn () => $client->get('soon') === false));
check('stats', fn () => $client->getStats()['curr_items'] > 0);
done();
