'use strict';
// The main calls of npm's memcached, as TAP. Arguments: host, port.
const { promisify } = require('util');
const Memcached = require('memcached');
const { check, done, fails, within } = require('./tap');

const connect = () => {
  const raw = new Memcached(`${process.argv[2]}:${process.argv[3]}`, { timeout: 10000, retries: 0, maxValue: 4 << 20 });
  return new Proxy(raw, { get: (target, name) => promisify(target[name]).bind(target) });
};
const client = connect();

(async () => {
  await check('version', async () => /^\d/.test((await client.version())[0].version));
  await check('flush', () => client.flush());
  await check('set', () => client.set('key', 'value', 0));
  await check('get', async () => (await client.get('key')) === 'value');
  await check('miss', async () => (await client.get('nothing')) === undefined);
  await check('objects', async () => (await client.set('object', { a: [1, 2.5] }, 0)) && (await client.get('object')).a[1] === 2.5);
  await check('add', async () => (await client.add('added', '1', 0)) && fails(() => client.add('added', '2', 0)));
  await check('replace', async () => (await client.replace('key', 'b', 0)) && fails(() => client.replace('nothing', 'b', 0)));
  await check('append', async () => (await client.append('key', 'c')) && (await client.get('key')) === 'bc');
  await check('prepend', async () => (await client.prepend('key', 'a')) && (await client.get('key')) === 'abc');
  await check('cas', async () => {
    const { cas } = await client.gets('key');
    return (await client.cas('key', 'new', cas, 0)) && !(await client.cas('key', 'old', cas, 0));
  });
  await check('incr', async () => (await client.set('n', 10, 0)) && (await client.incr('n', 5)) === 15);
  await check('decr', async () => (await client.decr('n', 20)) === 0);
  await check('touch', async () => (await client.touch('n', 100)) && fails(() => client.touch('nothing', 1)));
  await check('delete', async () => (await client.del('key')) && !(await client.del('key')));
  await check('get of many', async () => {
    await client.set('a', 1, 0);
    await client.set('b', 2, 0);
    const many = await client.getMulti(['a', 'nothing', 'b']);
    return many.a === 1 && many.b === 2 && !('nothing' in many);
  });
  await check('900 KB', async () => (await client.set('large', 'x'.repeat(900000), 0)) && (await client.get('large')).length === 900000);
  await check('expiry', async () => (await client.set('soon', 'x', 1)) && within(5, async () => (await client.get('soon')) === undefined));
  await check('stats', async () => (await client.stats())[0].curr_items > 0);
  await check('settings', async () => Object.keys((await client.settings())[0]).length > 5);
  await check('slabs', async () => Object.keys((await client.slabs())[0]).length > 0);
  await check('items', async () => Object.keys((await client.items())[0]).length > 0);
  // Last, and then by a new client: after a SERVER_ERROR the library takes the whole server for dead, for 30 seconds.
  await check('2 MB is refused', () => fails(() => client.set('huge', 'x'.repeat(2000000), 0)));
  await check('goes on after that', async () => (await connect().get('a')) === 1);
  done();
})();
