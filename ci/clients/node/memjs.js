'use strict';
// memjs's main calls (the binary protocol), as TAP. Arguments: host, port.
const memjs = require('memjs');
const { check, done, fails, within } = require('./tap');

const client = memjs.Client.create(`${process.argv[2]}:${process.argv[3]}`, { timeout: 10, retries: 1 });
const text = async (key) => {
  const { value } = await client.get(key);
  return value === null ? null : value.toString();
};

(async () => {
  await check('flush', () => client.flush());
  await check('set', () => client.set('key', 'value', { expires: 0 }));
  await check('get', async () => (await text('key')) === 'value');
  await check('miss', async () => (await text('nothing')) === null);
  await check('add', async () => (await client.add('added', '1', {})) && fails(() => client.add('added', '2', {})));
  await check('replace', async () => (await client.replace('key', 'b', {})) && fails(() => client.replace('nothing', 'b', {})));
  await check('append', async () => (await client.append('key', 'c')) && (await text('key')) === 'bc');
  await check('prepend', async () => (await client.prepend('key', 'a')) && (await text('key')) === 'abc');
  await check('increment', async () => (await client.increment('n', 5, { initial: 10 })).value === 10 && (await client.increment('n', 5, {})).value === 15);
  await check('decrement', async () => (await client.decrement('n', 20, {})).value === 0);
  await check('touch', () => client.touch('n', 100));
  await check('delete', async () => (await client.delete('key')) && !(await client.delete('key')));
  await check('900 KB', async () => (await client.set('large', 'x'.repeat(900000), {})) && (await text('large')).length === 900000);
  await check('2 MB is refused', () => fails(() => client.set('huge', 'x'.repeat(2000000), {})));
  await check('goes on after that', async () => (await client.set('a', '1', {})) && (await text('a')) === '1');
  await check('expiry', async () => (await client.set('soon', 'x', { expires: 1 })) && within(5, async () => (await text('soon')) === null));
  await check('stats', () => new Promise((resolve, reject) => {
    client.stats((error, _, stats) => (error ? reject(error) : resolve(stats.curr_items > 0 && /^\d/.test(stats.version))));
  }));
  done();
})();
