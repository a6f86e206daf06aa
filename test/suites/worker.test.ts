/** Jest's workers skip work that would take a quarter of their processor time. */

test('a function has its name from where it is written, and is not given it each time one is made', () => {
  const named = (): number => 1;
  expect(named.name).toBe('named');
  expect((() => [named, () => named]).toString()).not.toContain('__name');
});

test('a worker has the young generation and the compiler of a simulating process', () => {
  const isWorker = process.argv[1]?.endsWith('processChild.js') === true;
  expect(isWorker ? process.execArgv.join(' ') : '--maglev').toContain('--maglev');
});
