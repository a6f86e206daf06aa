/** Runs a fleet with the deployed handlers, against its own balancer, installer, monitor and metrics. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import { crashEverywhere, type WorldEffect, testWorkflow, type WorkflowTest } from 'steadfast/testing';
import { startWorld, type World } from '../world/server.ts';
import { handler as check } from './agents/check-host.ts';
import { handler as install } from './agents/install-release.ts';
import { handler as read } from './agents/read-errors.ts';
import { handler as shift } from './agents/shift-traffic.ts';
import { audit, rolledBack } from './audit.ts';
import { checkHost, installRelease, readErrors, shiftTraffic } from './contracts.ts';
import { deployHost, type Fleet, MOST_ERRORS, OUT_OF_WORK, rollingDeployment } from './workflow.ts';
import { DEEDS, type FleetEntry } from './world.ts';

const agents = [shift, install, check, read];

let folder: string;
let world: World;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fleet-'));
  world = await startWorld({ port: 0, ledgerFile: join(folder, 'ledger.jsonl'), deeds: DEEDS });
  process.env['FLEET_WORLD_URL'] = world.url;
});
afterEach(async () => {
  delete process.env['FLEET_WORLD_URL'];
  await world.stop();
  rmSync(folder, { recursive: true });
});

const ledger = (): readonly FleetEntry[] => [...(world.ledger as readonly FleetEntry[])];

const fleetOf = (batches: number, size: number): Fleet => ({
  version: 'v2',
  batches: Array.from({ length: batches }, (_, batch) =>
    Array.from({ length: size }, (_each, at) => `host-${batch * size + at + 1}`),
  ),
});

/** Makes the monitor report these hosts as sick on every check. */
function sick(trial: WorkflowTest<Fleet>, hosts: readonly string[]): WorkflowTest<Fleet> {
  const { execute } = check.worker.implementation;
  trial.replace(checkHost, {
    execute: async (ctx, input) => {
      if (hosts.includes(input.host)) throw new PermanentError('it answers 500');
      return (await execute(ctx, input)) as { check: string };
    },
  });
  return trial;
}

test('a fleet gets the release, but for a tenth of a batch that is sick, and at most five hosts are out of work', async () => {
  const fleet = fleetOf(3, 10);
  const trial = sick(testWorkflow(rollingDeployment, { agents }), ['host-3', 'host-30']);
  const { status, output } = await (await trial.start(fleet)).waitForEnd();
  expect([status, output]).toEqual(['succeeded', { version: 'v2' }]);
  expect(audit(ledger(), fleet.batches.flat())).toEqual({
    running: { v2: 28, former: 2 },
    doubled: 0,
    leftOut: [],
    outAtMost: OUT_OF_WORK,
  });
});

test('200 hosts go back when three of a batch are sick, the last batch first, and still only five at a time', async () => {
  const fleet = fleetOf(10, 20);
  const trial = sick(testWorkflow(rollingDeployment, { agents }), ['host-61', 'host-70', 'host-80']);
  expect((await (await trial.start(fleet)).waitForEnd()).status).toBe('compensated');
  const entries = ledger();
  expect(audit(entries, fleet.batches.flat())).toEqual({
    running: { former: 200 },
    doubled: 0,
    leftOut: [],
    outAtMost: OUT_OF_WORK,
  });
  expect(rolledBack(entries, fleet.batches, 'v2')).toEqual([4, 3, 2, 1]);
});

/** Sets the share of requests that fail on these hosts with the release. */
async function failing(hosts: readonly string[], share: number): Promise<void> {
  for (const host of hosts) {
    const body = JSON.stringify({ reference: 'v2', host, share });
    expect((await fetch(`${world.url}/metrics/errors`, { method: 'POST', body })).status).toBe(201);
  }
}

describe('the gate of a batch', () => {
  const fleet = fleetOf(3, 2);
  const [, second = []] = fleet.batches;

  test('is asked after the soak time, and what shows meanwhile sends the fleet back, the last batch first', async () => {
    const trial = testWorkflow(rollingDeployment, { agents });
    const run = await trial.start(fleet);
    // Two calls for each of the four hosts: the second batch is at work, and soaks.
    await run.until(() => trial.calls(shiftTraffic).length === 8);
    await trial.skip('1s');
    expect(trial.calls(readErrors)).toHaveLength(1);
    await failing(second, MOST_ERRORS * 3);
    const { status, failure } = await run.waitForEnd();
    expect([status, failure?.message]).toEqual(['compensated', expect.stringContaining('batch-2')]);
    expect(trial.calls(readErrors)).toHaveLength(2); // a refusal is final
    expect(rolledBack(ledger(), fleet.batches, 'v2')).toEqual([2, 1]);
    expect(audit(ledger(), fleet.batches.flat())).toMatchObject({
      running: { former: 6 },
      leftOut: [],
    });
  });

  test('passes a batch at the limit: one of its two hosts may fail twice as often', async () => {
    await failing(second.slice(1), MOST_ERRORS * 2);
    const run = await testWorkflow(rollingDeployment, { agents }).start(fleet);
    expect((await run.waitForEnd()).status).toBe('succeeded');
  });

  test('stays shut where nothing can be read', async () => {
    const rule = { service: 'metrics', mode: 'unavailable', match: { action: 'any' } };
    await fetch(`${world.url}/behave`, { method: 'POST', body: JSON.stringify(rule) });
    const run = await testWorkflow(rollingDeployment, { agents }).start(fleet);
    expect((await run.waitForEnd()).status).toBe('compensated');
    expect(rolledBack(ledger(), fleet.batches, 'v2')).toEqual([1]);
  });
});

test('a pause in mid-fleet lets the batch under way come to its end, and no other begins before it is over', async () => {
  const trial = testWorkflow(rollingDeployment, { agents });
  const run = await trial.start(fleetOf(4, 4));
  const installs = (): number => ledger().filter(({ kind }) => kind === 'install').length;
  await run.until(() => trial.calls(installRelease).length > 5);
  await run.pause('the shop is full');
  await trial.skip('3h');
  expect([(await run.state()).status, installs()]).toEqual(['paused', 8]);
  await run.resume();
  expect((await run.waitForEnd()).status).toBe('succeeded');
  expect(installs()).toBe(16);
});

test('a host is not restarted a second time because the answer was lost', async () => {
  const trial = testWorkflow(deployHost, { agents });
  trial.loseReply(installRelease);
  expect((await (await trial.start({ host: 'host-1', version: 'v2' })).waitForEnd()).status).toBe(
    'succeeded',
  );
  expect(ledger().filter(({ kind }) => kind === 'install')).toHaveLength(1);
});

test('a batch of more hosts than are undone in order is refused', async () => {
  await expect(testWorkflow(rollingDeployment, { agents }).start(fleetOf(1, 26))).rejects.toMatchObject({
    code: 'bad-input',
  });
});

function effects(): readonly WorldEffect[] {
  const entries = ledger();
  const deeds = entries.filter(({ kind }) => kind === 'shift' || kind === 'install');
  return deeds.map(({ id, kind, reference }) => ({
    key: reference,
    kind,
    undone: entries.filter(({ of, kind: other }) => of === id && other !== 'repeat').length,
  }));
}

describe('a fault at any point loses and doubles nothing', () => {
  const release = { host: 'host-1', version: 'v2' };

  test('of a host', async () => {
    const report = await crashEverywhere(deployHost, { input: release, agents, effects });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('of a host that is sick', async () => {
    const report = await crashEverywhere(deployHost, {
      input: release,
      agents,
      effects,
      scenario: (trial, input) => {
        trial.fail(checkHost, { times: Infinity, with: new PermanentError('it answers 500') });
        return trial.start(input);
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });

  test('of a fleet on its way back', async () => {
    const report = await crashEverywhere(rollingDeployment, {
      input: fleetOf(2, 1),
      agents,
      effects,
      maxRuns: 15, // of some 290: the tests above cover all those of a host
      scenario: (trial, fleet) => sick(trial, ['host-2']).start(fleet),
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });
});
