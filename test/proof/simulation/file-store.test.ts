/**
 * A world over a file compares the answers to a role with those of the store in memory, whatever records
 * either has.
 */

import { MemoryTable } from '../../../lib/memory/table.ts';
import { seededRandom } from '../../../lib/memory/world.ts';
import { memoryLanes } from '../../../lib/memory/lanes.ts';
import { memoryBreakers, memoryPresences, memoryRates } from '../../../lib/memory/side-records.ts';
import { EventQueue } from '../../../proof/simulation/events.ts';
import { FileStore } from '../../../proof/simulation/file-store.ts';
import { mailboxesOf } from '../../../proof/simulation/mail-port.ts';
import { choiceOf } from '../../../proof/simulation/plans.ts';
import { newProcess } from '../../../proof/simulation/process.ts';
import { ProcessStore } from '../../../proof/simulation/process-store.ts';
import type { WorldIndex } from '../../../proof/simulation/world-table.ts';
import { anExecution, aStep } from '../../contract/records.ts';
import { calmHost } from './calm.ts';

/** A value too large for a record, so that the file stores it separately. */
const LARGE = { text: 'x'.repeat(8_000) };

async function overFile(input: ReturnType<typeof anExecution>['input']) {
  const table = new MemoryTable(2);
  const problems: string[] = [];
  const index = { lagMs: () => 0, page: undefined } as unknown as WorldIndex;
  const file = new FileStore(table.shards, index, (problem) => problems.push(problem));
  const events = new EventQueue(0);
  const host = calmHost(events, choiceOf(seededRandom(1)), {
    table,
    file,
    breakers: memoryBreakers(),
    rates: memoryRates(),
    presences: memoryPresences(),
    lanes: memoryLanes(),
    wake: () => undefined,
    send: () => undefined,
    announce: () => undefined,
    random: { id: () => '', number: () => 0 },
    note: () => undefined,
  });
  const process = newProcess(host, 1);
  const store = new ProcessStore(host, async (execute) => execute(), process);
  const mailboxes = mailboxesOf(host.mail, process, async (execute) => execute(), file);
  const execution = anExecution({ input });
  await store.create(execution);
  return { store, mailboxes, table, file, problems, execution };
}

it.each([
  ['within its record', {}],
  ['beside it', LARGE],
])('an input %s, of an execution read in whole and in part', async (_, input) => {
  const { store, table, file, problems, execution } = await overFile(input);
  const { id } = execution;
  await store.write({ executionId: id, step: aStep({ name: 's' }) });
  // Two reads of each kind: the second uses the server's memory.
  for (const _again of [1, 2]) {
    expect(await store.readSteps(id, ['s'])).toMatchObject({ execution: { input }, isReadInPart: true });
    await store.readExecution(id);
    expect(await store.read(id)).toMatchObject({ execution: { input } });
  }
  // A process that has read only the record has not read its input, and leaves it unchanged.
  const alone = (await store.readExecution(id)) ?? execution;
  await store.write({ executionId: id, execution: { ...alone, version: 2, writeId: 'w-2' } });
  expect((await store.read(id))?.execution).toMatchObject({ version: 2, input });
  expect(table.read(id)?.execution.input).toEqual(input);
  expect(problems).toEqual([]);
  file.close();
});

it('a message is accepted and taken in the file, too', async () => {
  const { store, mailboxes, table, file, problems, execution } = await overFile({});
  const { id: executionId, life } = execution;
  const message = { executionId, life, id: 'm', name: 'paid', order: 1, at: 5, body: { of: 'm' } };
  const entry = { order: 1, name: 'paid', id: 'm', at: 5, bytes: 10 };
  const mailbox = { executionId, life, version: 1, writeId: 'w-1', entries: [entry], accepted: 1 };
  expect(await mailboxes.accept(mailbox, message)).toBe('written');
  expect(await mailboxes.accept({ ...mailbox, writeId: 'w-2' }, message)).toBe('conflict');
  expect(await mailboxes.readMailbox(executionId, life)).toEqual(mailbox);
  const { body: _, ...kept } = message;
  const taken = {
    mailbox: { ...mailbox, version: 2, writeId: 'w-3', entries: [] },
    message: { ...kept, taken: { step: 's', at: 6 } },
  };
  await store.write({ executionId, step: aStep({ name: 's' }), taken });
  expect(await mailboxes.readMessage(executionId, life, 'm')).toEqual(taken.message);
  expect(problems).toEqual([]);
  table.mailboxes.writeMailbox({ ...taken.mailbox, version: 3, accepted: 7 });
  await mailboxes.readMailbox(executionId, life);
  expect(problems).toEqual([expect.stringMatching('the file answers')]);
  file.close();
});

it('what differs is said', async () => {
  const { store, table, file, problems, execution } = await overFile({});
  table.write({ executionId: execution.id, execution: { ...execution, version: 2, writeId: 'w', epoch: 7 } });
  await store.read(execution.id);
  expect(problems).toEqual(['the file answers.execution.epoch 1 and not 7']);
  file.close();
});
