/** docs/REFERENCE.md lists everything that an entry exports, and describes each row. */

import { declarationIn, docOf, parametersOf } from '../scripts/contract/members.ts';
import { printReference } from '../scripts/print-reference.ts';
import * as author from '../lib/index.ts';
import * as client from '../lib/client.ts';
import * as kit from '../kit/test-workflow.ts';

const page = printReference();

it('has each function that authors, callers and testers import', () => {
  /** The class of every error with a code; it is in HTTP.md and FAILURES.md. */
  const elsewhere = ['SteadfastError', 'externalWorld'];
  const exported = [author, client, kit].flatMap((entry) => Object.keys(entry));
  expect(exported.length).toBeGreaterThan(40);
  expect(exported.filter((name) => !elsewhere.includes(name) && !page.includes(name))).toEqual([]);
});

it('says of each option and each call what it is', () => {
  const rows = page.split('\n').filter((line) => line.startsWith('| `'));
  expect(rows.length).toBeGreaterThan(200);
  expect(rows.filter((row) => /\|\s*\|$/.test(row))).toEqual([]);
});

it('reads comments, types and what a call takes', () => {
  expect(docOf('*\n * Text of\n * two lines. @default 3\n * @example\n * a();\n *   b();\n ')).toEqual({
    text: 'Text of two lines.',
    tags: { default: ['3'], example: ['a();\n  b();'] },
  });
  expect(parametersOf('<T>(a: Map<string, T>, b?: () => void, c = 3, ...d: readonly T[])')).toEqual([
    'a',
    'b?',
    'c?',
    'd',
  ]);
  const { members } = declarationIn('lib/core/plan/agent.ts', 'AgentOptions');
  expect(members.find(({ name }) => name === 'effect')?.type).toBe(
    "'idempotent' | 'probed' | 'unsafe' | 'none'",
  );
  expect(members.find(({ name }) => name === 'lease')?.isOptional).toBe(true);
  expect(() => declarationIn('lib/core/plan/agent.ts', 'Nothing')).toThrow('declares no Nothing');
});
