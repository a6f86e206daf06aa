import type { Execution, Step } from './api.ts';
import { type Row, type Screen, tableOn } from './table.ts';

const step = (name: string, status: string, ...modes: ('execute' | 'probe')[]): Step => ({
  name,
  status,
  attempts: modes.map((mode, index) => ({
    number: index + 1,
    mode,
    claimedAt: 0,
    endedAt: 1,
    outcome: 'done',
  })),
});

const row = (status: string, ...steps: Step[]): Row => {
  const execution: Execution = { executionId: 'x', status, startedAt: 0, steps };
  return { orderId: 'order-1', title: 'nothing goes wrong', execution };
};

function screen(isTTY: boolean): Screen & { readonly written: string[] } {
  const written: string[] = [];
  return { isTTY, columns: 200, written, write: (text) => written.push(text) };
}

test('without a terminal there is one line per change and nothing else', () => {
  const out = screen(false);
  const table = tableOn(out, 0, () => 2_500);
  const running = row('running', step('charge', 'running'), step('ship', 'ready'));
  table.show([running]);
  table.show([running]);
  table.say('something happened');
  table.show([row('running', step('charge', 'done', 'execute', 'execute', 'probe'), step('ship', 'ready'))]);
  expect(out.written).toEqual([
    '  2.5 s  order-1: charge running\n',
    '  2.5 s  order-1: the order is running\n',
    '  2.5 s  something happened\n',
    '  2.5 s  order-1: charge done (2 tries, asked)\n',
  ]);
});

test('on a terminal the same lines are drawn again, and what is said stays above them', () => {
  const out = screen(true);
  const table = tableOn(out, 0, () => 0);
  table.show([row('running', step('charge', 'running'))]);
  const height = (out.written.join('').match(/\n/g) ?? []).length;
  out.written.length = 0;
  table.show([row('running', step('charge', 'done'))]);
  expect(out.written[0]).toContain(`\u001B[${height}A\u001B[0J`);
  expect(out.written[0]).toContain('nothing goes wrong  running  done   ');
  out.written.length = 0;
  table.say('something happened');
  expect(out.written[0]).toContain(`\u001B[${height}A\u001B[0J  0.0 s  something happened\n`);
  expect(out.written[0]).toContain('nothing goes wrong');
});

test('no line is longer than the terminal is wide: a wrapped line could not be erased', () => {
  const out = { ...screen(true), columns: 30 };
  tableOn(out, 0, () => 0).show([row('running', step('charge', 'running'))]);
  for (const line of out.written.join('').split('\n')) expect(line.length).toBeLessThanOrEqual(30);
});

test('a closed table writes nothing more', () => {
  const out = screen(true);
  const table = tableOn(out, 0, () => 0);
  table.close();
  table.say('too late');
  table.show([row('running', step('charge', 'running'))]);
  expect(out.written).toEqual([]);
});
