/** Runs the workflow with the deployed handlers, against its own airline, hotels and other services. */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PermanentError } from 'steadfast';
import {
  crashEverywhere,
  type WorldEffect,
  type TestRun,
  testWorkflow,
  type WorkflowTest,
} from 'steadfast/testing';
import { startWorld, type World } from '../world/server.ts';
import { handler as desk } from './agents/ask-desk.ts';
import { handler as flight } from './agents/book-flight.ts';
import { handler as hotel } from './agents/book-hotel.ts';
import { handler as car } from './agents/rent-car.ts';
import { handler as mail } from './agents/send-mail.ts';
import { bookFlight, bookHotel, rentCar, sendMail } from './contracts.ts';
import { holidayBooking, type Trip } from './workflow.ts';
import { DEEDS, FULL, type HolidayEntry } from './world.ts';

const agents = [flight, hotel, car, desk, mail];
const trip: Trip = { trip: 'trip-1', to: 'Lisbon', hotel: 'Harbour Inn', otherHotel: 'Station Hotel' };

let folder: string;
let world: World;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'holiday-'));
  world = await startWorld({ deeds: DEEDS, port: 0, ledgerFile: join(folder, 'ledger.jsonl') });
  process.env['HOLIDAY_WORLD_URL'] = world.url;
});
afterEach(async () => {
  delete process.env['HOLIDAY_WORLD_URL'];
  await world.stop();
  rmSync(folder, { recursive: true });
});

const entries = (): readonly HolidayEntry[] => world.ledger as readonly HolidayEntry[];
const KINDS = DEEDS.map(({ kind }) => kind);
/** The effects that took place, and how often each was undone. */
const effects = (): WorldEffect[] =>
  entries()
    .filter(({ kind }) => KINDS.includes(kind))
    .map(({ id, kind, reference }) => ({
      key: reference,
      kind,
      undone: entries().filter((entry) => entry.of === id && entry.kind !== 'repeat').length,
    }));
const standing = (): string[] =>
  effects()
    .filter(({ undone }) => undone === 0)
    .map(({ kind }) => kind ?? '')
    .sort();
const mails = (): (string | undefined)[] =>
  entries().flatMap((entry) => (entry.kind === 'mail' ? [entry.to] : []));

async function confirmed(trial: WorkflowTest<Trip>, given: Trip): Promise<TestRun> {
  const run = await trial.start(given);
  await run.waitForQuestion('confirmed');
  await run.complete('confirmed', { by: 'desk 4' });
  return run;
}

const ALL = ['car', 'mail', 'request', 'room', 'seat'];

test('flight, hotel and car are booked side by side, the desk confirms, the traveller hears of it', async () => {
  const run = await confirmed(testWorkflow(holidayBooking, { agents }), trip);
  expect(await run.waitForEnd()).toMatchObject({ status: 'succeeded', output: { hotel: 'Harbour Inn' } });
  expect([standing(), mails()]).toEqual([ALL, ['traveller']]);
});

test('three unknown outcomes at once are settled each in its own way, and nothing is booked twice', async () => {
  const trial = testWorkflow(holidayBooking, { agents });
  for (const each of [bookFlight, bookHotel, rentCar]) trial.loseReply(each);
  const { status, steps } = await (await confirmed(trial, trip)).waitForEnd();
  expect(status).toBe('succeeded');
  // The flight was probed; the hotel was asked again.
  expect([steps['flight']?.attempts, steps['hotel']?.attempts]).toEqual([1, 2]);
  expect(standing()).toEqual(ALL);
});

test('another hotel takes the place of one that is full, which is certain before it is asked', async () => {
  const run = await confirmed(testWorkflow(holidayBooking, { agents }), { ...trip, hotel: FULL });
  expect(await run.waitForEnd()).toMatchObject({ status: 'succeeded', output: { hotel: 'Station Hotel' } });
  expect(standing()).toEqual(ALL);
});

test('a room that may be booked in the first hotel is given back before the other one is asked', async () => {
  const trial = testWorkflow(holidayBooking, { agents });
  trial.loseReply(bookHotel, { step: 'hotel' });
  trial.fail(bookHotel, {
    step: 'hotel',
    times: Infinity,
    with: new PermanentError('closed for the winter'),
  });
  const run = await confirmed(trial, trip);
  expect(await run.waitForEnd()).toMatchObject({ status: 'succeeded', output: { hotel: 'Station Hotel' } });
  const rooms = entries().filter(({ kind }) => kind.startsWith('room'));
  expect(rooms.map(({ kind }) => kind)).toEqual(['room', 'room-released', 'room']);
});

test('who gets no car travels all the same', async () => {
  const trial = testWorkflow(holidayBooking, { agents });
  trial.fail(rentCar, { times: Infinity, with: new PermanentError('no car left') });
  expect(await (await confirmed(trial, trip)).waitForEnd()).toMatchObject({
    status: 'succeeded',
    output: { car: 'none' },
  });
});

test('without a flight everything is undone, and then customer service is informed, once', async () => {
  const trial = testWorkflow(holidayBooking, { agents });
  trial.delay(bookFlight, { by: '2s' });
  trial.fail(bookFlight, { times: Infinity, with: new PermanentError('sold out') });
  trial.loseReply(bookHotel);
  expect((await (await trial.start(trip)).waitForEnd()).status).toMatch(/^(compensated|failed)$/);
  expect([standing(), mails()]).toEqual([['mail'], ['customer-service']]);
});

test('a desk that beats is waited for, one that is silent is not', async () => {
  const trial = testWorkflow(holidayBooking, { agents });
  const run = await trial.start(trip);
  await run.waitForQuestion('confirmed');
  for (let beats = 0; beats < 5; beats += 1) {
    await run.heartbeat('confirmed');
    await trial.skip('8s');
  }
  expect((await run.state())?.status).toBe('running');
  await trial.skip('10m');
  expect((await run.state())?.status).toBe('compensated');
  expect([standing(), mails()]).toEqual([['mail'], ['customer-service']]);
});

describe('a fault at any point loses and doubles nothing', () => {
  const common = { agents, effects, slowest: { 'rent-car': '4s' } } as const;

  test('on the way to the holiday', async () => {
    const report = await crashEverywhere(holidayBooking, { ...common, input: trip, scenario: confirmed });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ succeeded: report.runs + 1 });
  });

  test('nor where the hotel is full and there is no car', async () => {
    const report = await crashEverywhere(holidayBooking, {
      ...common,
      input: { ...trip, hotel: FULL },
      scenario: (trial, input) => {
        trial.fail(rentCar, { times: Infinity, with: new PermanentError('no car left') });
        return confirmed(trial, input);
      },
    });
    expect(report.findings).toEqual([]);
  });

  test('nor on the way back from a desk that says no', async () => {
    const report = await crashEverywhere(holidayBooking, {
      ...common,
      input: trip,
      scenario: async (trial, input) => {
        const run = await trial.start(input);
        await run.waitForQuestion('confirmed');
        await run.fail('confirmed', { message: 'the visa is missing' });
        return run;
      },
    });
    expect(report.findings).toEqual([]);
    expect(report.ends).toEqual({ compensated: report.runs + 1 });
  });
});

test('the mail comes last, and nothing is undone for one that is declined', async () => {
  const trial = testWorkflow(holidayBooking, { agents });
  trial.fail(sendMail, { times: Infinity, with: new PermanentError('no such mailbox') });
  expect((await (await confirmed(trial, trip)).waitForEnd()).status).toBe('succeeded');
  expect(standing()).toEqual(['car', 'request', 'room', 'seat']);
});
