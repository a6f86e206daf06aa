/** A file that was exported is closed for good, and its items are whole. */

import { EventEmitter, once } from 'node:events';
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { exportTo } from '../../serve/export.ts';
import { clientOf, servedWith, testServer, type TestServer } from './served.ts';

let world: TestServer;
beforeEach(() => {
  world = testServer();
});
afterEach(() => world.end());

it('writes the items of what is under way, and lets no server go on with it', async () => {
  const began = new EventEmitter();
  const lost = servedWith(() => {
    began.emit('began');
    return new Promise(() => undefined);
  });
  const server = await world.start({ served: lost, stopWithinMs: 0 });
  const atWork = once(began, 'began');
  const { executionId } = await clientOf(server).start('greeting', { input: { text: 'Ada' } });
  await atWork;
  const to = `${world.file}.jsonl`;
  await expect(exportTo(world.file, to, 1_000)).rejects.toThrow(/open/);
  await server.stop();
  const count = await exportTo(world.file, to, 1_000);
  const lines = readFileSync(to, 'utf8').trimEnd().split('\n');
  expect([lines.shift(), lines.pop()]).toEqual(['{"export":{"format":1}}', `{"export":{"lines":${count}}}`]);
  expect(lines).toHaveLength(count);
  const items = lines.map((line) => JSON.parse(line) as Record<string, { readonly S?: string }>);
  const own = items.filter(({ pk }) => pk?.S?.endsWith(executionId));
  expect(new Set(own.map(({ sk }) => sk?.S))).toEqual(new Set(['exec', 'step#compose', 'step#post']));
  await expect(world.start({ served: lost })).rejects.toThrow(
    'was exported at 1970-01-01T00:00:01.000Z and is closed for good',
  );
  // Broken off, it is made again, and says the same.
  expect(await exportTo(world.file, to, 2_000)).toBe(count);
  await expect(world.start({ served: lost })).rejects.toThrow('1970-01-01T00:00:01.000Z');
});

it('closes nothing where the items cannot be written', async () => {
  const served = servedWith(async ({ text }) => ({ text }));
  await (await world.start({ served })).stop();
  const to = join(`${world.file}-nowhere`, 'items.jsonl');
  await expect(exportTo(world.file, to, 1_000)).rejects.toThrow('no such file or directory');
  await (await world.start({ served })).stop();
  mkdirSync(to, { recursive: true });
  await expect(exportTo(world.file, to, 1_000)).rejects.toThrow('directory');
  expect(existsSync(`${to}.part`)).toBe(false);
  await (await world.start({ served })).stop();
  await expect(exportTo(world.file, '/dev/null', 1_000)).rejects.toThrow(
    'is a directory, a pipe or a device',
  );
  for (const own of ['', '-lock'])
    await expect(exportTo(world.file, `${world.file}${own}`, 1_000)).rejects.toThrow('belongs to the state');
  await (await world.start({ served })).stop();
});
