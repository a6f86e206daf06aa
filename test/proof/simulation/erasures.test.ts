/** The judge of erasures finds each of these violations. */

import type { StoredValue } from '../../../lib/core/ports.ts';
import type { Execution, Step } from '../../../lib/core/records/state.ts';
import type { Removable } from '../../../lib/core/supervision/audit.ts';
import { MemoryTable } from '../../../lib/memory/table.ts';
import { noKinds } from '../../../proof/simulation/kinds.ts';
import { Ledger } from '../../../proof/simulation/ledger.ts';
import { OracleErasures } from '../../../proof/simulation/oracle-erasures.ts';

const ended = {
  id: 'e',
  life: 'l1',
  version: 1,
  writeId: 'w',
  status: 'succeeded',
} as unknown as Execution;
const NOW = 2_000_000;
const step = { name: 'a', life: 'l1', version: 1, writeId: 's', changedAt: 1 } as unknown as Step;

function world(execution: Execution = ended, actsForMs = 0) {
  const table = new MemoryTable();
  const problems: string[] = [];
  const objects: StoredValue[] = [];
  const oracle = new OracleErasures({
    table,
    kinds: noKinds(),
    violate: (_, problem) => problems.push(problem),
    objects: () => objects,
    now: () => NOW,
    goes: () => undefined,
    actsFor: () => actsForMs,
  });
  table.create(execution);
  const write = (version: number): string =>
    table.write({ executionId: 'e', step: { ...step, version, writeId: `s${version}` } });
  const eraseAll = (): void => {
    const { over } = oracle.asked('e');
    for (const found of table.recordsOf('e')) oracle.remove(found as Removable);
    over();
  };
  return { table, problems, objects, oracle, write, eraseAll };
}

it('nothing, where all is gone', () => {
  const { problems, oracle, write, eraseAll } = world();
  write(1);
  eraseAll();
  oracle.judgeEnd();
  expect(problems).toEqual([]);
});

it('one that was open', () => {
  const { problems, eraseAll } = world({ ...ended, wakeAt: 1 });
  eraseAll();
  expect(problems).toEqual(['E1 it is erased while it is open']);
});

it('one whose lost attempt may still act', () => {
  const { problems, eraseAll } = world(ended, 5_000);
  eraseAll();
  expect(problems).toEqual(['E1 it is erased, and may act for 5000 ms']);
});

it('an object that is left, of it and of one below it, and no other', () => {
  const { problems, objects, eraseAll } = world();
  const keys = ['0/e/l1/input/a', '0/e.child.0/l1/input/b', '0/e/l2/input/c', '0/e2/l1/input/d'];
  objects.push(...keys.map((key) => ({ key, storedAt: NOW - 1, bytes: 1 })));
  // A process with an older state stores it afterwards; the audit removes it.
  objects.push({ key: '0/e/l1/step.a/e', storedAt: NOW, bytes: 1 });
  eraseAll();
  expect(problems).toEqual([expect.stringMatching(/^E2 .*0\/e\/l1\/input\/a,0\/e\.child\.0\/l1\/input\/b$/)]);
});

it('a record that is left, or comes back: a first claim alone may', () => {
  const { problems, oracle, table, write } = world();
  write(1);
  write(2);
  const { over } = oracle.asked('e');
  oracle.remove(table.recordsOf('e')[0] as Removable);
  over();
  expect(problems).toEqual([expect.stringContaining('E2 it is erased')]);
  const [beside] = table.recordsOf('e');
  table.remove(beside as Removable);
  expect(write(1)).toBe('written');
  oracle.judgeEnd();
  expect(problems).toHaveLength(1);
  expect(write(2)).toBe('written');
  oracle.judgeEnd();
  expect(problems[1]).toBe('E2 a record is of an execution that was erased');
});

it('an effect of it', () => {
  const { oracle, eraseAll } = world();
  const ledger = new Ledger();
  ledger.erased = oracle.lives;
  const request = { service: 's', input: {} };
  ledger.perform('e.a.l1', request, 'idempotent');
  eraseAll();
  expect(ledger.violations).toEqual([]);
  ledger.perform('e.a.l1', request, 'idempotent');
  ledger.undo('e.b.l1-2', request);
  ledger.perform('e.a.l2', request, 'idempotent');
  expect(ledger.violations.filter((one) => one.includes('after its erasure'))).toHaveLength(2);
});
