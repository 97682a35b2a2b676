<?php
// PECL memcached's main calls (libmemcached), as TAP. Arguments: host, port, text or binary.
require __DIR__ . '/tap.php';

$client = new Memcached();
$client->setOption(Memcached::OPT_BINARY_PROTOCOL, $argv[3] === 'binary');
$client->setOption(Memcached::OPT_CONNECT_TIMEOUT, 10000);
$client->addServer($argv[1], (int) $argv[2]);

check('version', fn () => preg_match('/^[0-9]/', implode($client->getVersion())) === 1);
check('flush', fn () => $client->flush());
check('set', fn () => $client->set('key', 'value'));
check('get', fn () => $client->get('key') === 'value');
check('miss', fn () => $client->get('nothing') === false && $client->getResultCode() === Memcached::RES_NOTFOUND);
check('objects', fn () => $client->set('object', ['a' => [1, 2.5, null]]) && $client->get('object') === ['a' => [1, 2.5, null]]);
check('add', fn () => $client->add('added', '1') && !$client->add('added', '2')
    && $client->getResultCode() === Memcached::RES_NOTSTORED || $client->getResultCode() === Memcached::RES_DATA_EXISTS);
check('replace', fn () => $client->replace('key', 'b') && !$client->replace('nothing', 'b'));
$client->setOption(Memcached::OPT_COMPRESSION, false);
check('append', fn () => $client->append('key', 'c') && $client->get('key') === 'bc');
check('prepend', fn () => $client->prepend('key', 'a') && $client->get('key') === 'abc');
check('cas', function () use ($client) {
    $token = $client->get('key', null, Memcached::GET_EXTENDED)['cas'];
    return $client->cas($token, 'key', 'new') && !$client->cas($token, 'key', 'old')
        && $client->getResultCode() === Memcached::RES_DATA_EXISTS;
});
check('increment', fn () => $client->set('n', 10) && $client->increment('n', 5) === 15);
check('decrement', fn () => $client->decrement('n', 20) === 0);
check('delete', fn () => $client->delete('key') && !$client->delete('key'));
check('touch', fn () => $client->touch('n', 100) && !$client->touch('nothing', 1));
check('setMulti and getMulti', fn () => $client->setMulti(['a' => '1', 'b' => '2'])
    && $client->getMulti(['a', 'nothing', 'b']) == ['a' => '1', 'b' => '2']);
check('getDelayed', fn () => $client->getDelayed(['a', 'b']) && count($client->fetchAll()) === 2);
check('deleteMulti', fn () => $client->deleteMulti(['a', 'b']) == ['a' => true, 'b' => true]);
check('empty value', fn () => $client->set('empty', '') && $client->get('empty') === '');
check('900 KB', fn () => $client->set('large', str_repeat('x', 900000)) && strlen($client->get('large')) === 900000);
check('2 MB is refused', fn () => !$client->set('huge', random_bytes(2000000)));
check('goes on after that', fn () => $client->set('a', '1') && $client->get('a') === '1');
check('key of 250 bytes', fn () => $client->set(str_repeat('k', 250), 'x') && $client->get(str_repeat('k', 250)) === 'x');
check('expiry', fn () => $client->set('soon', 'x', 1) && within(5, fn () => $client->get('soon') === false));
check('stats', fn () => current($client->getStats())['curr_items'] > 0);
done();
