/** Runs the workflow with the deployed Python program: success, undo, refusals, and kills at every point. */

import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crashEverywhere, type WorldEffect, testWorkflow } from 'steadfast/testing';
import { handler as order } from './agents/order-pickup.ts';
import { handler as print } from './agents/print-label.ts';
import { printLabel } from './contracts.ts';
import { type Parcel, parcelLabels } from './workflow.ts';

const agents = [print, order];
const parcel: Parcel = { parcel: 'p-1', address: '1 Main Street', kilograms: 2 };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'labels-'));
  process.env['LABEL_PRINTER'] = folder;
});
afterEach(() => {
  delete process.env['LABEL_PRINTER'];
  rmSync(folder, { recursive: true });
});

interface Entry {
  readonly key: string;
  readonly label?: string;
  readonly voids?: string;
}
function journal(): readonly Entry[] {
  const file = join(folder, 'journal.jsonl');
  const text = existsSync(file) ? readFileSync(file, 'utf8') : '';
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Entry);
}
/** The labels that were printed and not voided. */
function standing(entries = journal()): readonly Entry[] {
  const voided = new Set(entries.map(({ voids }) => voids));
  return entries.filter(({ label }) => label !== undefined && !voided.has(label));
}

test('a label is printed by Python, and its pickup is ordered', async () => {
  const run = await testWorkflow(parcelLabels, { agents }).start(parcel);
  const { status, output } = await run.waitForEnd();
  const [printed] = journal();
  expect([status, journal().length]).toEqual(['succeeded', 1]);
  expect(output).toEqual({ label: printed?.label, pickup: expect.any(String) });
});

test('a parcel that is too heavy has its label voided by Python', async () => {
  const run = await testWorkflow(parcelLabels, { agents }).start({ ...parcel, kilograms: 31 });
  expect((await run.waitForEnd()).status).toBe('compensated');
  expect(journal()).toMatchObject([{ label: expect.any(String) }, { voids: expect.any(String) }]);
});

test('an address of blanks is refused by Python, for good', async () => {
  const run = await testWorkflow(parcelLabels, { agents }).start({ ...parcel, address: ' ' });
  const { status, steps } = await run.waitForEnd();
  expect(status).toBe('failed');
  expect(steps['print']).toMatchObject({ attempts: 1, failure: { message: 'there is no address to print' } });
  expect(journal()).toEqual([]);
});

/**
 * The journals of the printer and of the carrier: what remains under each idempotency key, and how often it
 * was voided.
 */
async function effects(): Promise<readonly WorldEffect[]> {
  const entries = journal();
  const labels = entries.flatMap(({ key, label }) =>
    label === undefined
      ? []
      : [{ key, kind: 'label', undone: entries.filter(({ voids }) => voids === label).length }],
  );
  const names = await readdir(join(folder, 'pickups')).catch(() => []);
  return [...labels, ...names.map((name) => ({ key: name.replace(/\.json$/, ''), kind: 'pickup' }))];
}

test('a fault at any point loses and doubles nothing, on the way there and back', async () => {
  const input = { ...parcel, kilograms: 31 };
  const report = await crashEverywhere(parcelLabels, { input, agents, effects });
  expect(report.findings).toEqual([]);
  expect(report.ends).toEqual({ compensated: report.runs + 1 });
  expect(report.runs).toBeGreaterThan(30);
});

test('a label that was printed without an answer is found, not printed again', async () => {
  const trial = testWorkflow(parcelLabels, { agents });
  trial.loseReply(printLabel);
  expect((await (await trial.start(parcel)).waitForEnd()).status).toBe('succeeded');
  expect(standing()).toHaveLength(1);
});
