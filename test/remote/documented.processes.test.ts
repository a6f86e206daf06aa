/**
 * The page about remote agents is correct: its Python service works, and the code accepts what its tables
 * list.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callOf, parseSaid } from '../../lib/remote/contract.ts';
import { performed } from './performed.ts';

const ROOT = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(ROOT, 'docs', 'AGENTS-ELSEWHERE.md'), 'utf8');
const blocks = (language: string): string[] =>
  [...page.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, block = '']) => block,
  );
/** The first cells of the rows of the table with this heading. */
const rows = (heading: string): string[][] => {
  const [, table = ''] = page.split(`\n| ${heading} |`);
  return [...(table.split('\n\n')[0] ?? '').matchAll(/^\| (.*) \|$/gm)]
    .map(([, row = '']) => row.split(' | '))
    .filter(([first]) => first !== '---');
};
const names = (cell = ''): string[] => [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name);

it('the agent’s file is that of the example', () => {
  const file = readFileSync(join(ROOT, 'examples/parcel-labels/agents/print-label.ts'), 'utf8');
  expect(file).toContain(blocks('ts').find((block) => block.includes('printLabel')));
});

it('the fields of a call are those that are sent', () => {
  const accepted = { token: 't', at: 1 };
  const ctx = { executionId: 'e', step: 's', attempt: 1, idempotencyKey: 'k', accepted, timeLeftMs: () => 1 };
  const call = callOf('undo', 'a', ctx as never, 0, { input: {}, output: {} });
  expect(rows('field').flatMap(([field]) => names(field))).toEqual(Object.keys(call));
});

it('the answers are those that each call takes', () => {
  const kinds = ['execute', 'probe', 'undo'] as const;
  const table = rows('`answer`').map(([answer, to]) => [
    names(answer)[0],
    to === 'all' ? [...kinds] : String(to).split(', '),
  ]);
  const takes = (answer: string): string[] =>
    kinds.filter((kind) => {
      try {
        return 'answer' in parseSaid(JSON.stringify({ answer }), kind);
      } catch {
        return false;
      }
    });
  const all = ['done', 'accepted', 'notDone', 'running', 'cannotTell', 'transient', 'permanent'];
  expect(table).toEqual(all.map((answer) => [answer, takes(answer)]));
});

describe('the service in Python', () => {
  let folder: string;
  let service: ChildProcess;
  let url: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'steadfast-documented-'));
    writeFileSync(
      join(folder, 'service.py'),
      blocks('python').find((block) => block.includes('do_POST')) ?? '',
    );
    service = spawn('python3', ['service.py', '0'], { cwd: folder, stdio: ['ignore', 'pipe', 'ignore'] });
    const [port] = (await once(service.stdout!, 'data')) as [Buffer];
    url = `http://127.0.0.1:${port.toString().trim()}/agent`;
  });
  afterAll(async () => {
    service.kill();
    await once(service, 'exit');
    rmSync(folder, { recursive: true });
  });

  it('is asked, books, is found, takes back', async () => {
    const kinds = ['probe', 'execute', 'probe', 'undo', 'probe'] as const;
    const reports = [];
    for (const call of kinds) reports.push(await performed({ url }, { call }));
    expect(reports).toMatchObject([
      { kind: 'found', verdict: 'not-done' },
      { kind: 'done', output: { code: 'P1' } },
      { kind: 'found', verdict: 'done', output: { code: 'P1' } },
      { kind: 'compensated' },
      { kind: 'found', verdict: 'not-done' },
    ]);
  });
});
