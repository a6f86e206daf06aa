/** The clock is set while a server runs, or between two runs: no wait becomes longer. */

import { EventEmitter, once } from 'node:events';
import * as z from 'zod/mini';
import { agent, workflow } from '../../lib/index.ts';
import { createClient } from '../../lib/client.ts';
import type { Server } from '../../serve/server.ts';
import type { ServerOptions } from '../../serve/server-options.ts';
import type { Served } from '../../serve/workflows.ts';
import { linesOf } from '../aws/lines.ts';
import { testServer, type TestServer } from './served.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const YEAR = 8_760 * HOUR;

const nothing = z.object({});
const act = agent('act', {
  input: nothing,
  output: nothing,
  effect: 'idempotent',
  undo: 'none',
  lease: '3s',
});
const patient = workflow('patient', { input: nothing, within: '1h' }, (w) => {
  const acted = w.step('act', act, {});
  w.wait('rest', { for: '1s', after: [acted] });
});
const clientOf = ({ url }: Server) => createClient<{ patient: typeof patient }>({ url });

const servedWith = (work: () => Promise<object>): Served => {
  const { worker } = act.handler({ execute: async () => ({ ...(await work()) }) });
  const agents = new Map([['act', { worker, isIsolated: false }]]);
  return { workflows: [patient], agents, triggers: [], forms: {}, warnings: [] };
};

/** A simulated machine whose clock the test sets. */
class Machine {
  readonly world: TestServer = testServer();
  #setMs: number;

  constructor(setMs: number) {
    this.#setMs = setMs;
  }

  set(byMs: number): void {
    this.#setMs += byMs;
  }

  start(work: () => Promise<object>, more: Partial<ServerOptions> = {}): Promise<Server> {
    const machine = { wall: () => Date.now() + this.#setMs, elapsed: () => performance.now() };
    return this.world.start({ served: servedWith(work), stopWithinMs: 0, machine, ...more });
  }
}

const started: TestServer[] = [];
afterEach(() => Promise.all(started.splice(0).map((world) => world.end())));

/** Sets the clock during an execution's attempt. @returns how the execution ended */
async function whileItRuns(byMs: number): Promise<string> {
  const machine = new Machine(0);
  started.push(machine.world);
  const steps = new EventEmitter();
  const server = await machine.start(async () => {
    steps.emit('began');
    await once(steps, 'finish');
    return {};
  });
  const isUnderWay = once(steps, 'began');
  const { executionId } = await clientOf(server).start('patient', { input: {} });
  await isUnderWay;
  machine.set(byMs);
  steps.emit('finish');
  return (await clientOf(server).waitForEnd(executionId)).status;
}

async function betweenTwoRuns(byMs: number): Promise<string> {
  const machine = new Machine(-byMs);
  started.push(machine.world);
  const steps = new EventEmitter();
  const first = await machine.start(() => {
    steps.emit('began');
    return new Promise(() => undefined);
  });
  const isUnderWay = once(steps, 'began');
  const { executionId } = await clientOf(first).start('patient', { input: {} });
  await isUnderWay;
  await first.stop();
  machine.set(byMs);
  const second = await machine.start(async () => ({}));
  expect(await second.resumed).toMatchObject({ executions: 1, attempts: 1 });
  return (await clientOf(second).waitForEnd(executionId)).status;
}

it.each([
  ['while it runs', whileItRuns],
  ['between two runs', betweenTwoRuns],
])('lets nothing wait longer for a clock that is set %s', async (_, run) => {
  const sizes = [MINUTE, 2 * HOUR, 2 * YEAR];
  const ends = await Promise.all([...sizes.map((ms) => run(-ms)), ...sizes.map((ms) => run(ms))]);
  // If the clock is set forward by more than its remaining time, its time has passed.
  expect(ends).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded', 'failed', 'failed']);
});

test.each([
  [-HOUR, 'clock-jumped'],
  [2 * YEAR, 'clock-later'],
  [MINUTE, undefined],
])('a start says that its clock is %i ms from that of the last run', async (byMs, message) => {
  const machine = new Machine(0);
  started.push(machine.world);
  await (await machine.start(async () => ({}))).stop();
  machine.set(byMs);
  const lines = await linesOf(async () => (await machine.start(async () => ({}), { isQuiet: false })).stop());
  const said = lines.filter((line) => String(line.message).startsWith('clock'));
  expect(said.map((line) => line.message)).toEqual(message === undefined ? [] : [message]);
});

test('its answers say the time that it goes by, where the clock of its machine was set back', async () => {
  const machine = new Machine(0);
  started.push(machine.world);
  const server = await machine.start(async () => ({}));
  machine.set(-2 * HOUR);
  for (const path of ['health', 'live']) {
    const { headers } = await fetch(`${server.url}/${path}`);
    const behindMs = Date.parse(headers.get('date') ?? '') - (Date.now() - 2 * HOUR);
    expect(behindMs).toBeGreaterThan(HOUR);
  }
});
